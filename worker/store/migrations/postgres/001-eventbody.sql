-- What an event_id was first seen with, to tell a duplicate from a reused key (spec.md, rule 8).
CREATE TABLE sendonce_eventbody (
    event_id varchar(64) NOT NULL PRIMARY KEY,
    body_sha256 bytea NOT NULL
);
