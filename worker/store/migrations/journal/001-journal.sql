-- Every delivery once: a doubt written before the roll-back and its final report are one row. Times are microseconds since 1970, UTC.
CREATE TABLE sendonce_attempt (
    id integer PRIMARY KEY,
    recorded_at integer NOT NULL,
    received_at integer NOT NULL,
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
    permanent integer NOT NULL,
    possibly_twice integer NOT NULL,
    other_body integer NOT NULL,
    user_id text NOT NULL,
    recipient text NOT NULL,
    mail_message_id text NOT NULL,
    stage_usec text NOT NULL,
    log_line text NOT NULL,
    UNIQUE (message_id, receive_count, received_at, worker, lane)
);
CREATE INDEX sendonce_attempt_event ON sendonce_attempt (event_id);
CREATE INDEX sendonce_attempt_twice ON sendonce_attempt (id) WHERE possibly_twice;

-- What happened to an event beside its deliveries: sent, replayed, found in a dead process's handover slot.
CREATE TABLE sendonce_note (
    id integer PRIMARY KEY,
    noted_at integer NOT NULL,
    kind text NOT NULL,
    worker text NOT NULL,
    event_id text NOT NULL,
    message_id text NOT NULL,
    text text NOT NULL
);
CREATE INDEX sendonce_note_event ON sendonce_note (event_id);
CREATE INDEX sendonce_note_twice ON sendonce_note (id) WHERE kind = 'twice';
