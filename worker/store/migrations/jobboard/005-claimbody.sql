-- The hash lies at its claim's own id, which only grows, and no longer at the event_id, which falls anywhere among those of
-- a year. The event_id tells the hash of a claim that is gone from that of a later one, where ids begin again.
CREATE TABLE sendonce_claimbody (
    claim_id integer NOT NULL PRIMARY KEY,
    event_id varchar(64) NOT NULL,
    body_sha256 blob NOT NULL
);
INSERT INTO sendonce_claimbody (claim_id, event_id, body_sha256)
SELECT claim.id, claim.event_id, body.body_sha256 FROM jobs_processedevent AS claim
JOIN sendonce_eventbody AS body ON body.event_id = claim.event_id ORDER BY claim.id;
DROP TABLE sendonce_eventbody;
