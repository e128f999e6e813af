-- The events in doubt are few among many deliveries.
CREATE INDEX sendonce_attempt_doubt ON sendonce_attempt (event_id, id) WHERE outcome = 'in doubt';
