-- +goose Up

-- Blocks that are known to be their chain's: no endpoint that has another one of the same number is used, and nothing up
-- to the newest is ever withdrawn but by an operator. About one in a thousand and the newest are kept.
CREATE TABLE anchors (
    chain  BIGINT NOT NULL,
    number BIGINT NOT NULL,
    hash   BYTEA  NOT NULL,
    PRIMARY KEY (chain, number)
);

-- +goose Down
DROP TABLE anchors;
