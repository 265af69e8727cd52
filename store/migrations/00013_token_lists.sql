-- +goose Up

-- Public token lists as they were taken over: what their last answer was called, when it was read (UNIX seconds), and a
-- number that every change raises, by which other replicas notice.
CREATE TABLE token_lists (
    name    TEXT PRIMARY KEY,
    etag    TEXT   NOT NULL,
    read    BIGINT NOT NULL,
    changes BIGINT NOT NULL
);

-- Their tokens, as far as contracts confirm them.
CREATE TABLE listed_tokens (
    list     TEXT     NOT NULL,
    chain    BIGINT   NOT NULL,
    address  BYTEA    NOT NULL,
    decimals SMALLINT NOT NULL,
    name     TEXT     NOT NULL,
    symbol   TEXT     NOT NULL,
    logo     TEXT     NOT NULL,
    PRIMARY KEY (list, chain, address)
);

-- +goose Down
DROP TABLE listed_tokens;
DROP TABLE token_lists;
