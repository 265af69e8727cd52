-- +goose Up

-- What each order whose creation is known adds to the statistics. Values are millionths of a USD at the time, NULL while
-- unknown: given, the fee and the affiliate's share at the creation, taken at the fulfilment.
CREATE TABLE order_values (
    id         BYTEA PRIMARY KEY,
    day        BIGINT   NOT NULL,
    give_chain BIGINT   NOT NULL,
    take_chain BIGINT   NOT NULL,
    give_token BYTEA    NOT NULL,
    take_token BYTEA    NOT NULL,
    swapped    BYTEA    NOT NULL, -- on the give chain, for the token that was given; empty: nothing was
    creator    BYTEA    NOT NULL,
    fulfilled  SMALLINT NOT NULL,
    active     SMALLINT NOT NULL,
    unpriced   SMALLINT NOT NULL, -- some of its value is not known
    given      BIGINT,
    taken      BIGINT,
    fee        BIGINT,
    affiliate  BIGINT
);

-- The sums of that by the UNIX day of the creation and the pair of chains. Each sum of values is beside the number of
-- orders that it is of.
CREATE TABLE daily_statistics (
    day              BIGINT NOT NULL,
    give_chain       BIGINT NOT NULL,
    take_chain       BIGINT NOT NULL,
    created          BIGINT NOT NULL,
    fulfilled        BIGINT NOT NULL,
    active           BIGINT NOT NULL,
    unpriced         BIGINT NOT NULL,
    given            BIGINT NOT NULL,
    given_orders     BIGINT NOT NULL,
    taken            BIGINT NOT NULL,
    taken_orders     BIGINT NOT NULL,
    fee              BIGINT NOT NULL,
    fee_orders       BIGINT NOT NULL,
    affiliate        BIGINT NOT NULL,
    affiliate_orders BIGINT NOT NULL,
    creators         BIGINT NOT NULL,
    new_creators     BIGINT NOT NULL,
    PRIMARY KEY (day, give_chain, take_chain)
);

-- How many orders somebody created on a day between two chains, and between any (0 and 0): who is new on which day.
CREATE TABLE order_creators (
    creator    BYTEA  NOT NULL,
    give_chain BIGINT NOT NULL,
    take_chain BIGINT NOT NULL,
    day        BIGINT NOT NULL,
    orders     BIGINT NOT NULL,
    PRIMARY KEY (creator, give_chain, take_chain, day)
);

-- In how many orders a token was taken, given, or swapped for what was given.
CREATE TABLE order_tokens (
    chain   BIGINT NOT NULL,
    address BYTEA  NOT NULL,
    orders  BIGINT NOT NULL,
    PRIMARY KEY (chain, address)
);

-- Orders that are to be counted anew.
CREATE TABLE uncounted (order_id BYTEA NOT NULL);
CREATE INDEX uncounted_orders ON uncounted (order_id);
INSERT INTO uncounted SELECT id FROM orders;

-- +goose Down
DROP TABLE uncounted;
DROP TABLE order_tokens;
DROP TABLE order_creators;
DROP TABLE daily_statistics;
DROP TABLE order_values;
