-- The hash lies at its claim's own id, which only grows, and no longer at the event_id, which falls anywhere among those of
-- a year. The event_id tells the hash of a claim that is gone from that of a later one, where ids begin again.
-- The new name locks the old table: nobody writes another hash into it while its rows are carried over.
ALTER TABLE IF EXISTS sendonce_eventbody RENAME TO sendonce_eventbody_before;
CREATE TABLE sendonce_claimbody (
    claim_id bigint NOT NULL PRIMARY KEY,
    event_id varchar(64) NOT NULL,
    body_sha256 bytea NOT NULL
);
DO 'BEGIN
    IF to_regclass(''jobs_processedevent'') IS NOT NULL AND to_regclass(''sendonce_eventbody_before'') IS NOT NULL THEN
        INSERT INTO sendonce_claimbody (claim_id, event_id, body_sha256)
        SELECT claim.id, claim.event_id, body.body_sha256 FROM jobs_processedevent AS claim
        JOIN sendonce_eventbody_before AS body ON body.event_id = claim.event_id ORDER BY claim.id;
    END IF;
END';
DROP TABLE IF EXISTS sendonce_eventbody_before;
