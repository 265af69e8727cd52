-- +goose Up

-- Leases of jobs that one replica at a time may do, such as following a chain. epoch counts the holders and fences off
-- the transactions of earlier ones. expires is UNIX seconds by the database's clock.
CREATE TABLE leases (
    job     TEXT PRIMARY KEY,
    holder  TEXT             NOT NULL,
    epoch   BIGINT           NOT NULL,
    expires DOUBLE PRECISION NOT NULL
);

-- +goose Down
DROP TABLE leases;
