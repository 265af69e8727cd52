-- +goose Up

-- What the contracts of tokens said of themselves. It does not change; what is wrong in it is known better by the
-- operator's own list.
CREATE TABLE tokens (
    chain    BIGINT   NOT NULL,
    address  BYTEA    NOT NULL,
    decimals SMALLINT NOT NULL,
    name     TEXT     NOT NULL,
    symbol   TEXT     NOT NULL,
    PRIMARY KEY (chain, address)
);

-- +goose Down
DROP TABLE tokens;
