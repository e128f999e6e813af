-- The claims of the strategy claim-send-mark, from the claim to the mark (spec.md, "Two strategies for production").
CREATE TABLE sendonce_delivery (
    event_id varchar(64) NOT NULL PRIMARY KEY,
    owner uuid NOT NULL,
    state varchar(10) NOT NULL CHECK (state IN ('sending', 'in_doubt')),
    lease_until timestamptz NOT NULL
);
-- What all workers on this database have to agree on: the strategy.
CREATE TABLE sendonce_meta (
    name varchar(40) NOT NULL PRIMARY KEY,
    value varchar(200) NOT NULL
);
