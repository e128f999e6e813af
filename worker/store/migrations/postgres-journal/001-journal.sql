-- What journal.db holds with SQLite (../journal), for all workers and consoles of this database. Times are microseconds
-- since 1970, UTC.
CREATE TABLE sendonce_attempt (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    recorded_at bigint NOT NULL,
    received_at bigint NOT NULL,
    worker text NOT NULL,
    lane integer NOT NULL,
    message_id text NOT NULL,
    receive_count integer NOT NULL,
    event_id text NOT NULL,
    event_type text NOT NULL,
    application_id text NOT NULL,
    outcome text NOT NULL,
    failed_stage text NOT NULL,
    reason text NOT NULL,
    mail_reply text NOT NULL,
    permanent boolean NOT NULL,
    possibly_twice boolean NOT NULL,
    other_body boolean NOT NULL,
    user_id text NOT NULL,
    recipient text NOT NULL,
    mail_message_id text NOT NULL,
    stage_usec text NOT NULL,
    log_line text NOT NULL,
    UNIQUE (message_id, receive_count, received_at, worker, lane)
);
CREATE INDEX sendonce_attempt_event ON sendonce_attempt (event_id);
CREATE INDEX sendonce_attempt_twice ON sendonce_attempt (id) WHERE possibly_twice;
CREATE INDEX sendonce_attempt_doubt ON sendonce_attempt (event_id, id) WHERE outcome = 'in doubt';

CREATE TABLE sendonce_note (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    noted_at bigint NOT NULL,
    kind text NOT NULL,
    worker text NOT NULL,
    event_id text NOT NULL,
    message_id text NOT NULL,
    text text NOT NULL
);
CREATE INDEX sendonce_note_event ON sendonce_note (event_id);
CREATE INDEX sendonce_note_twice ON sendonce_note (id) WHERE kind = 'twice';

CREATE TABLE sendonce_replay_run (
    id bigint PRIMARY KEY,
    who text NOT NULL,
    host text NOT NULL,
    pid bigint NOT NULL,
    profile text NOT NULL,
    queue_url text NOT NULL,
    dlq_url text NOT NULL,
    settings text NOT NULL,
    state text NOT NULL,
    text text NOT NULL,
    alive_at bigint NOT NULL
);
CREATE TABLE sendonce_replay (
    run bigint NOT NULL,
    place integer NOT NULL,
    message_id text NOT NULL,
    event_id text NOT NULL,
    verdict text NOT NULL,
    receipt_handle text NOT NULL,
    state text NOT NULL,
    replayed_as text NOT NULL,
    text text NOT NULL,
    updated_at bigint NOT NULL,
    PRIMARY KEY (run, place)
);
CREATE INDEX sendonce_replay_message ON sendonce_replay (message_id);
CREATE INDEX sendonce_replay_event ON sendonce_replay (event_id);

CREATE TABLE sendonce_kept (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kept_at bigint NOT NULL,
    who text NOT NULL,
    dlq_url text NOT NULL,
    message_id text NOT NULL,
    event_id text NOT NULL,
    letter text NOT NULL,
    put_back_as text NOT NULL
);
CREATE INDEX sendonce_kept_message ON sendonce_kept (message_id);

CREATE TABLE sendonce_audit (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    noted_at bigint NOT NULL,
    who text NOT NULL,
    host text NOT NULL,
    profile text NOT NULL,
    act text NOT NULL,
    ids text NOT NULL,
    text text NOT NULL,
    outcome text NOT NULL
);
CREATE FUNCTION sendonce_audit_refuses() RETURNS trigger LANGUAGE plpgsql AS '
BEGIN
    RAISE EXCEPTION ''%'', TG_ARGV[0];
END';
CREATE TRIGGER sendonce_audit_unchanged BEFORE UPDATE ON sendonce_audit
    FOR EACH ROW EXECUTE FUNCTION sendonce_audit_refuses('lines of the audit are never changed');
CREATE TRIGGER sendonce_audit_kept BEFORE DELETE ON sendonce_audit
    FOR EACH ROW WHEN (OLD.noted_at > (extract(epoch FROM now()) - 400 * 86400) * 1000000)
    EXECUTE FUNCTION sendonce_audit_refuses('lines of the audit stay for 400 days');
CREATE TRIGGER sendonce_audit_whole BEFORE TRUNCATE ON sendonce_audit
    FOR EACH STATEMENT EXECUTE FUNCTION sendonce_audit_refuses('lines of the audit stay for 400 days');
