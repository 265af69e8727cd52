-- The schema is the same for SQLite and PostgreSQL: SQLite keeps bytes in a BYTEA column as they are. Hashes and
-- addresses are bytes as their chains store them, amounts are decimal digits, times are UNIX seconds, chains are the
-- API's numbers.

-- +goose Up

-- How far each chain has been read: all events from first_block to block are in events. A follower moves block, a
-- backfill moves first_block.
CREATE TABLE checkpoints (
    chain       BIGINT PRIMARY KEY,
    first_block BIGINT NOT NULL,
    first_time  BIGINT NOT NULL,
    block       BIGINT NOT NULL,
    block_time  BIGINT NOT NULL
);

-- Blocks that were not final when they were read. Another hash at the same number is a reorg.
CREATE TABLE blocks (
    chain  BIGINT NOT NULL,
    number BIGINT NOT NULL,
    hash   BYTEA  NOT NULL,
    PRIMARY KEY (chain, number)
);

-- The events of orders. An order is the fold of its events, so nothing else is needed.
CREATE TABLE events (
    chain      BIGINT NOT NULL,
    block      BIGINT NOT NULL,
    log_index  BIGINT NOT NULL,
    block_hash BYTEA  NOT NULL,
    block_time BIGINT NOT NULL,
    tx         BYTEA  NOT NULL,
    initiator  BYTEA  NOT NULL,
    order_id   BYTEA  NOT NULL,
    kind       TEXT   NOT NULL,
    fact       TEXT   NOT NULL,
    PRIMARY KEY (chain, block, log_index)
);
CREATE INDEX events_of_order ON events (order_id);
CREATE INDEX events_of_creation ON events (tx) WHERE kind = 'created';

-- Folded orders, the columns that are searched. Written in the transaction that changes their events. locked is 0
-- for no, 1 for yes, 2 for fulfilled without a known creation: the give chain has to confirm it.
CREATE TABLE orders (
    id               BYTEA PRIMARY KEY,
    state            SMALLINT NOT NULL,
    locked           SMALLINT NOT NULL,
    unlock_authority BYTEA    NOT NULL,
    give_chain       BIGINT   NOT NULL,
    give_token       BYTEA    NOT NULL,
    give_amount      TEXT     NOT NULL,
    take_chain       BIGINT   NOT NULL
);
-- A covering index, in the order of the answer: locked assets are read without touching the table.
CREATE INDEX orders_locked ON orders
    (unlock_authority, give_chain, give_token, take_chain, id, give_amount, locked) WHERE locked > 0;

-- +goose Down
DROP TABLE orders;
DROP TABLE events;
DROP TABLE blocks;
DROP TABLE checkpoints;
