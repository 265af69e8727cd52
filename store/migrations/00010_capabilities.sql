-- +goose Up

-- What endpoints of chains were found not to do, as JSON (upstream/jsonrpc.Limits), and when, in UNIX microseconds.
CREATE TABLE capabilities (
    service  TEXT   NOT NULL,
    endpoint TEXT   NOT NULL,
    limits   TEXT   NOT NULL,
    learned  BIGINT NOT NULL,
    PRIMARY KEY (service, endpoint)
);

-- +goose Down
DROP TABLE capabilities;
