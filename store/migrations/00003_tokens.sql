-- +goose Up

-- Metadata of tokens from their contracts. It does not change; operators correct it in the configuration.
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
