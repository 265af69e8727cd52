-- +goose Up

-- What lists of orders are searched by: a row for each order whose creation is known. call is the state of its external
-- call. Who has not acted yet is empty. A row is written in the transaction that writes the order.
CREATE TABLE order_list (
    id               BYTEA PRIMARY KEY,
    created          BIGINT   NOT NULL,
    give_chain       BIGINT   NOT NULL,
    take_chain       BIGINT   NOT NULL,
    state            SMALLINT NOT NULL,
    call             SMALLINT NOT NULL,
    trade_type       TEXT     NOT NULL,
    referral_code    BIGINT   NOT NULL,
    maker            BYTEA    NOT NULL,
    creator          BYTEA    NOT NULL,
    receiver         BYTEA    NOT NULL,
    give_authority   BYTEA    NOT NULL,
    order_authority  BYTEA    NOT NULL,
    fulfiller        BYTEA    NOT NULL,
    unlock_authority BYTEA    NOT NULL,
    affiliate        BYTEA    NOT NULL,
    fulfilled_in     BYTEA    NOT NULL
);
-- Newest first, and for what is rare by the cell that it is in: both have every column that a cell is made of.
CREATE INDEX order_list_newest ON order_list (created DESC, id, give_chain, take_chain, state, call, trade_type);
CREATE INDEX order_list_cell ON order_list (give_chain, take_chain, state, created DESC, id, call, trade_type);
CREATE INDEX order_list_referral ON order_list (referral_code, created DESC, id, give_chain, take_chain, state, call, trade_type);
CREATE INDEX order_list_maker ON order_list (maker, created DESC);
CREATE INDEX order_list_creator ON order_list (creator, created DESC);
CREATE INDEX order_list_receiver ON order_list (receiver, created DESC);
CREATE INDEX order_list_give_authority ON order_list (give_authority, created DESC);
CREATE INDEX order_list_order_authority ON order_list (order_authority, created DESC);
CREATE INDEX order_list_fulfiller ON order_list (fulfiller, created DESC) WHERE length(fulfiller) > 0;
CREATE INDEX order_list_unlock_authority ON order_list (unlock_authority, created DESC) WHERE length(unlock_authority) > 0;
CREATE INDEX order_list_affiliate ON order_list (affiliate, created DESC) WHERE length(affiliate) > 0;
CREATE INDEX order_list_fulfilled_in ON order_list (fulfilled_in) WHERE length(fulfilled_in) > 0;

-- How many rows of order_list are in each cell: created on a UNIX day, and on any (day -1).
CREATE TABLE order_counts (
    day        BIGINT   NOT NULL,
    give_chain BIGINT   NOT NULL,
    take_chain BIGINT   NOT NULL,
    state      SMALLINT NOT NULL,
    call       SMALLINT NOT NULL,
    trade_type TEXT     NOT NULL,
    orders     BIGINT   NOT NULL,
    PRIMARY KEY (day, give_chain, take_chain, state, call, trade_type)
);

-- Orders whose rows in order_list may be out of date: those from before there were any, and those that an earlier
-- release has written, which does not know of the column writes and leaves it as it is (version 9).
ALTER TABLE orders ADD COLUMN writes BIGINT NOT NULL DEFAULT 0;
CREATE TABLE unlisted (order_id BYTEA NOT NULL);
CREATE INDEX unlisted_orders ON unlisted (order_id);
INSERT INTO unlisted SELECT id FROM orders;

-- +goose Down
DROP TABLE unlisted;
ALTER TABLE orders DROP COLUMN writes;
DROP TABLE order_counts;
DROP TABLE order_list;
