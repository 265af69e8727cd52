-- +goose Up

-- Swaps within a chain: each is one event of the router, and a row says all of it. id is order/onchain's SwapID. Who has
-- no affiliate has an empty affiliate_fee; the affiliate himself is empty too where no event names him.
CREATE TABLE swaps (
    chain         BIGINT NOT NULL,
    block         BIGINT NOT NULL,
    log_index     BIGINT NOT NULL,
    block_hash    BYTEA  NOT NULL,
    block_time    BIGINT NOT NULL,
    tx            BYTEA  NOT NULL,
    id            BYTEA  NOT NULL,
    sender        BYTEA  NOT NULL,
    recipient     BYTEA  NOT NULL,
    token_in      BYTEA  NOT NULL,
    amount_in     TEXT   NOT NULL,
    token_out     BYTEA  NOT NULL,
    amount_out    TEXT   NOT NULL,
    fee           TEXT   NOT NULL,
    affiliate     BYTEA  NOT NULL,
    affiliate_fee TEXT   NOT NULL,
    referral_code BIGINT NOT NULL,
    PRIMARY KEY (chain, block, log_index)
);
CREATE INDEX swaps_id ON swaps (id);
CREATE INDEX swaps_of_transaction ON swaps (tx);
-- Newest first: all of them, those of a chain, and those of somebody.
CREATE INDEX swaps_newest ON swaps (block_time DESC, id, chain);
CREATE INDEX swaps_of_chain ON swaps (chain, block_time DESC, id);
CREATE INDEX swaps_sender ON swaps (sender, block_time DESC);
CREATE INDEX swaps_recipient ON swaps (recipient, block_time DESC);
CREATE INDEX swaps_affiliate ON swaps (affiliate, block_time DESC) WHERE length(affiliate) > 0;
CREATE INDEX swaps_referral ON swaps (referral_code, block_time DESC, id, chain);

-- How many swaps a chain has had on a UNIX day, and on any (day -1).
CREATE TABLE swap_counts (
    day   BIGINT NOT NULL,
    chain BIGINT NOT NULL,
    swaps BIGINT NOT NULL,
    PRIMARY KEY (day, chain)
);

-- +goose Down
DROP TABLE swap_counts;
DROP TABLE swaps;
