-- The job board's tables as Django's own migrations lay them out on SQLite (contrib.auth up to 0012; the jobs app in one initial
-- migration: relations last, Django's index names), so that a Django worker can share the file. IF NOT EXISTS: what Django made
-- before us stays as it is, and SQLite does not keep these words in its schema.

CREATE TABLE IF NOT EXISTS "auth_user" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "password" varchar(128) NOT NULL, "last_login" datetime NULL, "is_superuser" bool NOT NULL, "username" varchar(150) NOT NULL UNIQUE, "last_name" varchar(150) NOT NULL, "email" varchar(254) NOT NULL, "is_staff" bool NOT NULL, "is_active" bool NOT NULL, "date_joined" datetime NOT NULL, "first_name" varchar(150) NOT NULL);

CREATE TABLE IF NOT EXISTS "jobs_company" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "name" varchar(200) NOT NULL, "created_at" datetime NOT NULL);

CREATE TABLE IF NOT EXISTS "jobs_processedevent" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "event_id" varchar(64) NOT NULL UNIQUE, "event_type" varchar(100) NOT NULL, "processed_at" datetime NOT NULL);

CREATE TABLE IF NOT EXISTS "jobs_job" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "title" varchar(200) NOT NULL, "description" text NOT NULL, "created_at" datetime NOT NULL, "company_id" bigint NOT NULL REFERENCES "jobs_company" ("id") DEFERRABLE INITIALLY DEFERRED);

CREATE TABLE IF NOT EXISTS "jobs_candidate" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "headline" varchar(200) NOT NULL, "user_id" integer NOT NULL UNIQUE REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED);

CREATE TABLE IF NOT EXISTS "jobs_application" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "status" varchar(20) NOT NULL, "cover_letter" text NOT NULL, "created_at" datetime NOT NULL, "candidate_id" bigint NOT NULL REFERENCES "jobs_candidate" ("id") DEFERRABLE INITIALLY DEFERRED, "job_id" bigint NOT NULL REFERENCES "jobs_job" ("id") DEFERRABLE INITIALLY DEFERRED);

CREATE INDEX IF NOT EXISTS "jobs_job_company_id_1f42ea7c" ON "jobs_job" ("company_id");
CREATE UNIQUE INDEX IF NOT EXISTS "jobs_application_job_id_candidate_id_7274a7ca_uniq" ON "jobs_application" ("job_id", "candidate_id");
CREATE INDEX IF NOT EXISTS "jobs_application_candidate_id_4a66020b" ON "jobs_application" ("candidate_id");
CREATE INDEX IF NOT EXISTS "jobs_application_job_id_7bb7e966" ON "jobs_application" ("job_id");
