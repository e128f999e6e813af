\set a random(51, 550)
\startpipeline
BEGIN ISOLATION LEVEL READ COMMITTED;
WITH claimed AS (INSERT INTO jobs_processedevent (event_id, event_type, processed_at) VALUES (gen_random_uuid()::text, 'application.status_changed', now()) ON CONFLICT (event_id) DO NOTHING RETURNING id, event_id), body AS (INSERT INTO sendonce_claimbody (claim_id, event_id, body_sha256) SELECT id, event_id, decode('6868686868686868686868686868686868686868686868686868686868686868', 'hex') FROM claimed ON CONFLICT (claim_id) DO UPDATE SET event_id = excluded.event_id, body_sha256 = excluded.body_sha256) SELECT count(*) FROM claimed;
SET TRANSACTION READ ONLY;
SELECT application.id AS application_id, auth_user.id AS user_id, auth_user.username AS username, auth_user.first_name AS first_name, auth_user.last_name AS last_name, auth_user.email AS email, job.title AS job_title, company.name AS company_name FROM jobs_application AS application JOIN jobs_job AS job ON job.id = application.job_id JOIN jobs_company AS company ON company.id = job.company_id JOIN jobs_candidate AS candidate ON candidate.id = application.candidate_id JOIN auth_user ON auth_user.id = candidate.user_id WHERE application.id = :a;
\endpipeline
COMMIT;
