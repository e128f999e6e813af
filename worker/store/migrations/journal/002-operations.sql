-- What people do with dead letters. Times are microseconds since 1970, UTC.
-- A replay is a row set, so that it can be gone on with after its process died.
CREATE TABLE sendonce_replay_run (
    id integer PRIMARY KEY,
    who text NOT NULL,
    host text NOT NULL,
    pid integer NOT NULL,
    profile text NOT NULL,
    queue_url text NOT NULL,
    dlq_url text NOT NULL,
    settings text NOT NULL,
    state text NOT NULL,
    text text NOT NULL,
    alive_at integer NOT NULL
);
CREATE TABLE sendonce_replay (
    run integer NOT NULL,
    place integer NOT NULL,
    message_id text NOT NULL,
    event_id text NOT NULL,
    verdict text NOT NULL,
    receipt_handle text NOT NULL,
    state text NOT NULL,
    replayed_as text NOT NULL,
    text text NOT NULL,
    updated_at integer NOT NULL,
    PRIMARY KEY (run, place)
);
CREATE INDEX sendonce_replay_message ON sendonce_replay (message_id);
CREATE INDEX sendonce_replay_event ON sendonce_replay (event_id);

-- Deleted dead letters, to be put back: letter is a line of an export.
CREATE TABLE sendonce_kept (
    id integer PRIMARY KEY,
    kept_at integer NOT NULL,
    who text NOT NULL,
    dlq_url text NOT NULL,
    message_id text NOT NULL,
    event_id text NOT NULL,
    letter text NOT NULL,
    put_back_as text NOT NULL
);
CREATE INDEX sendonce_kept_message ON sendonce_kept (message_id);

-- Who did what: a line before the act and one after it. Nothing is ever changed; lines go after 400 days.
CREATE TABLE sendonce_audit (
    id integer PRIMARY KEY,
    noted_at integer NOT NULL,
    who text NOT NULL,
    host text NOT NULL,
    profile text NOT NULL,
    act text NOT NULL,
    ids text NOT NULL,
    text text NOT NULL,
    outcome text NOT NULL
);
CREATE TRIGGER sendonce_audit_unchanged BEFORE UPDATE ON sendonce_audit
BEGIN
    SELECT RAISE(ABORT, 'lines of the audit are never changed');
END;
CREATE TRIGGER sendonce_audit_kept BEFORE DELETE ON sendonce_audit
WHEN OLD.noted_at > (CAST(strftime('%s', 'now') AS integer) - 400 * 86400) * 1000000
BEGIN
    SELECT RAISE(ABORT, 'lines of the audit stay for 400 days');
END;
