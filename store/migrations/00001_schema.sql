-- The schema is the same for SQLite and PostgreSQL: SQLite keeps bytes in a BYTEA column as they are. Hashes and
-- addresses are bytes as their chains store them, amounts are decimal digits, times are UNIX seconds, days are UNIX
-- days, chains are the API's numbers. SQLite keeps tables that end in "clustered" in the index of their primary key,
-- which "clusters" names where PostgreSQL needs none.

-- The oldest schema version whose programs can use this database. A migration that takes something away from them, or
-- asks something new of what they write, raises it to its own number; one that only adds leaves it (docs/versions.md).
CREATE TABLE compatibility (oldest BIGINT NOT NULL);
INSERT INTO compatibility (oldest) VALUES (1);

-- How far each chain has been read: all events from first_block to block are in events. A follower moves block, a
-- backfill moves first_block. reorgs is how often blocks that had been read were withdrawn: replicas that do not follow
-- the chain notice by it. Blocks from proven_from to before proven_end were read a second time, or prove themselves what
-- they hold; from single_from on (0: none) they are one endpoint's word all the same. was_level: everything that the
-- chain had was stored once; before that an index without orders says nothing.
CREATE TABLE checkpoints (
    chain       BIGINT   PRIMARY KEY,
    first_block BIGINT   NOT NULL,
    first_time  BIGINT   NOT NULL,
    block       BIGINT   NOT NULL,
    block_time  BIGINT   NOT NULL,
    reorgs      BIGINT   NOT NULL DEFAULT 0,
    proven_from BIGINT   NOT NULL DEFAULT 0,
    proven_end  BIGINT   NOT NULL DEFAULT 0,
    single_from BIGINT   NOT NULL DEFAULT 0,
    was_level   SMALLINT NOT NULL DEFAULT 1
);

-- Blocks that were not final when they were read. Another hash at the same number is a reorg.
CREATE TABLE blocks (
    chain  BIGINT NOT NULL,
    number BIGINT NOT NULL,
    hash   BYTEA  NOT NULL,
    PRIMARY KEY (chain, number)
);

-- Blocks that no endpoint could give as they must be: they are left out, and asked for again.
CREATE TABLE quarantined_blocks (
    chain  BIGINT NOT NULL,
    number BIGINT NOT NULL,
    reason TEXT   NOT NULL,
    since  BIGINT NOT NULL,
    PRIMARY KEY (chain, number)
);

-- Blocks that are known to be their chain's: no endpoint that has another one of the same number is used, and nothing up
-- to the newest is ever withdrawn but by an operator. About one in a thousand and the newest are kept.
CREATE TABLE anchors (
    chain  BIGINT NOT NULL,
    number BIGINT NOT NULL,
    hash   BYTEA  NOT NULL,
    PRIMARY KEY (chain, number)
);

-- Numbers in the places of addresses that very many rows have; 0 stands for an absent one.
CREATE TABLE addresses (
    address_number INTEGER PRIMARY KEY,
    address        BYTEA   NOT NULL UNIQUE
);

-- The events of orders. An order is the fold of its events, so nothing else is needed. kind is the place, from 1 on, of a
-- form in order/ledger's fact.go. initiator and party, an address that fact has, are numbers, -1 for the maker. open is 1 while the log (below)
-- has yet to say that no reorg can take the event back.
CREATE TABLE events (
    chain        BIGINT   NOT NULL,
    block        BIGINT   NOT NULL,
    log_index    BIGINT   NOT NULL,
    block_time   BIGINT   NOT NULL,
    order_number INTEGER  NOT NULL,
    initiator    INTEGER  NOT NULL,
    party        INTEGER  NOT NULL,
    kind         SMALLINT NOT NULL,
    open         SMALLINT NOT NULL DEFAULT 0,
    block_hash   BYTEA    NOT NULL,
    tx           BYTEA    NOT NULL,
    fact         BYTEA    NOT NULL,
    PRIMARY KEY (chain, block, log_index)
) /* clustered */;
CREATE INDEX events_open ON events (chain, block) WHERE open = 1;
CREATE INDEX events_of_order ON events (order_number);
-- The first bytes find a transaction as well as all of them, which are six times as many.
CREATE INDEX events_of_transaction ON events (substr(tx, 1, 5));

-- How the events of the last days came, became final and were withdrawn, in the sequence of the transactions that wrote
-- them: order.LogEntry. Positions are UNIX microseconds, or more where two would have the same.
CREATE TABLE log (
    position BIGINT PRIMARY KEY,
    order_id BYTEA  NOT NULL,
    entry    TEXT   NOT NULL
);
CREATE INDEX log_of_order ON log (order_id, position);

-- The newest position that was ever given, and the newest whose entry was deleted for its age.
CREATE TABLE log_ends (newest BIGINT NOT NULL, deleted BIGINT NOT NULL);
INSERT INTO log_ends (newest, deleted) VALUES (0, 0);

-- Subscribers to the log: what they are sent, up to which position that was done, and how it went. secrets is a JSON
-- list, the newest first; configured: the file has it. failing_since and paused_until are UNIX seconds, 0 while nothing
-- fails and where no pause was asked for.
CREATE TABLE webhooks (
    name          TEXT     PRIMARY KEY,
    url           TEXT     NOT NULL,
    filter        TEXT     NOT NULL,
    secrets       TEXT     NOT NULL,
    configured    SMALLINT NOT NULL,
    position      BIGINT   NOT NULL,
    delivered     BIGINT   NOT NULL,
    failing_since BIGINT   NOT NULL,
    error         TEXT     NOT NULL,
    paused_until  BIGINT   NOT NULL
);

-- Entries of the log that could not be delivered at once, and those of their orders behind them; dead: given up.
CREATE TABLE deliveries (
    webhook  TEXT     NOT NULL,
    position BIGINT   NOT NULL,
    order_id BYTEA    NOT NULL,
    body     TEXT     NOT NULL,
    attempts SMALLINT NOT NULL,
    due      BIGINT   NOT NULL,
    dead     SMALLINT NOT NULL,
    error    TEXT     NOT NULL,
    PRIMARY KEY (webhook, position)
);

-- Folded orders, the columns that are searched. Written in the transaction that changes their events. terms are what its
-- events say, of which mostly two say it: facts have those alone that differ. They are empty, and so is all else, while
-- no event is known that has them. compared are the sides on which the order is over and agreed with what the contracts
-- store: 1 for the give chain, 2 for the take chain. uncounted is 1 where the order is to be valued anew.
CREATE TABLE orders (
    number     INTEGER  PRIMARY KEY,
    compared   SMALLINT NOT NULL DEFAULT 0,
    uncounted  SMALLINT NOT NULL DEFAULT 0,
    give_chain BIGINT   NOT NULL,
    take_chain BIGINT   NOT NULL,
    id         BYTEA    NOT NULL,
    terms      BYTEA    NOT NULL
);
CREATE INDEX orders_id ON orders (substr(id, 1, 5));
CREATE INDEX orders_uncompared ON orders (number) WHERE compared < 3;
CREATE INDEX orders_uncounted ON orders (number) WHERE uncounted = 1;

-- Orders that are locked for who may unlock them, and others whose creation is not known: these are in no list. locked is
-- 0 for no, 1 for yes, 2 for fulfilled without a known creation: the give chain has to confirm it.
CREATE TABLE locks (
    order_number     INTEGER  PRIMARY KEY,
    locked           SMALLINT NOT NULL,
    give_chain       BIGINT   NOT NULL,
    take_chain       BIGINT   NOT NULL,
    id               BYTEA    NOT NULL,
    unlock_authority BYTEA    NOT NULL,
    give_token       BYTEA    NOT NULL,
    give_amount      TEXT     NOT NULL
);
-- A covering index, in the order of the answer: locked assets are read without touching the table.
CREATE INDEX locks_of ON locks (unlock_authority, give_chain, give_token, take_chain, id, give_amount, locked);

-- Swaps within a chain: each is one event of the router, and a row says all of it. id is order/onchain's SwapID. Without
-- an affiliate affiliate_fee is empty; affiliate is empty too where no event names it.
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
CREATE INDEX swaps_id ON swaps (substr(id, 1, 5));
CREATE INDEX swaps_of_transaction ON swaps (substr(tx, 1, 5));

-- What lists are searched by: a row for each order whose creation is known and for each swap, written in the transaction
-- that writes the order or the swap. key is its place in lists that begin with the newest, descending: the time of the
-- creation or of the swap (32 bits) before what the first 31 bits of its id lack to be ones, less by one where another
-- row has that. cell is the give chain (27 bits), take chain (27), state (3), state of the external call (3) and type of
-- trade (3), 7 of swaps, in one number. Tokens, fulfillers and unlock authorities are numbers of addresses. Others are empty where
-- they are absent. One byte is in the place of the maker as creator, receiver or give
-- authority, and of the receiver as order authority, which they mostly are. Amounts are after patches, a byte with their
-- length before their bytes, so that longer ones are greater. usd is order_values.given of orders, -1 where that is not
-- known.
CREATE TABLE listed (
    key              BIGINT   NOT NULL /* clusters */,
    id               BYTEA    NOT NULL,
    cell             BIGINT   NOT NULL,
    referral_code    BIGINT   NOT NULL,
    usd              BIGINT   NOT NULL,
    give_token       INTEGER  NOT NULL,
    take_token       INTEGER  NOT NULL,
    fulfiller        INTEGER  NOT NULL,
    unlock_authority INTEGER  NOT NULL,
    give_amount      BYTEA    NOT NULL,
    take_amount      BYTEA    NOT NULL,
    maker            BYTEA    NOT NULL,
    creator          BYTEA    NOT NULL,
    receiver         BYTEA    NOT NULL,
    give_authority   BYTEA    NOT NULL,
    order_authority  BYTEA    NOT NULL,
    affiliate        BYTEA    NOT NULL
) /* clustered */;
CREATE UNIQUE INDEX listed_key ON listed (key, cell);
CREATE INDEX listed_id ON listed (substr(id, 1, 5));
-- Addresses that may be in very many rows are found beside their cell, so that these are counted without reading the
-- table. Of people beside the maker only others have an entry of their own.
CREATE INDEX listed_cell ON listed (cell, key);
CREATE INDEX listed_referral ON listed (referral_code, key, cell);
CREATE INDEX listed_maker ON listed (substr(maker, 1, 5), key);
CREATE INDEX listed_fulfiller ON listed (fulfiller, key, cell) WHERE fulfiller > 0;
CREATE INDEX listed_unlock_authority ON listed (unlock_authority, key, cell) WHERE unlock_authority > 0;
CREATE INDEX listed_give_token ON listed (give_token, give_amount, key, cell);
CREATE INDEX listed_take_token ON listed (take_token, take_amount, key, cell);
CREATE INDEX listed_usd ON listed (usd, key, cell);
CREATE INDEX listed_affiliate ON listed (substr(affiliate, 1, 5), key) WHERE length(affiliate) > 0;
CREATE INDEX listed_other_creator ON listed (substr(creator, 1, 5), key) WHERE length(creator) > 1;
CREATE INDEX listed_other_receiver ON listed (substr(receiver, 1, 5), key) WHERE length(receiver) > 1;
CREATE INDEX listed_other_give_authority ON listed (substr(give_authority, 1, 5), key) WHERE length(give_authority) > 1;
CREATE INDEX listed_other_order_authority ON listed (substr(order_authority, 1, 5), key) WHERE length(order_authority) > 1;

-- How many rows of listed each cell has of a subject: of all rows, of those with a referral code, with a token on a
-- side, with a value. The subject's kind is above its first 33 bits, code or number in them; of a pair of tokens it is
-- above 62, and both numbers of 31 in them. A period of 2^21 seconds (24 days) counts those that came in it; -1 and below
-- count those whose amount of the token, or value, is in a range: twice its bits, and one more where the second is set.
CREATE TABLE listed_counts (
    subject BIGINT NOT NULL,
    period  BIGINT NOT NULL,
    cell    BIGINT NOT NULL,
    listed  BIGINT NOT NULL,
    PRIMARY KEY (subject, period, cell)
) /* clustered */;

-- What each order whose creation is known adds to the statistics. Values are millionths of a USD at the time, NULL while
-- unknown: given, the fee and the affiliate's share at the creation, taken at the fulfilment.
CREATE TABLE order_values (
    id              BYTEA    PRIMARY KEY,
    day             BIGINT   NOT NULL,
    give_chain      BIGINT   NOT NULL,
    take_chain      BIGINT   NOT NULL,
    swapped         BYTEA    NOT NULL, -- on the give chain, for the token that was given; empty: nothing was
    creator         BYTEA    NOT NULL,
    fulfilled       SMALLINT NOT NULL,
    active          SMALLINT NOT NULL,
    unpriced        SMALLINT NOT NULL, -- some of its value is not known
    given           BIGINT,
    taken           BIGINT,
    fee             BIGINT,
    affiliate       BIGINT,
    delivered_after BIGINT,            -- seconds by the clocks of the two chains; NULL while it was not
    margin          SMALLINT           -- order.Margin; NULL while unknown, and of orders that are kept for one taker
);
CREATE INDEX order_values_creator ON order_values (creator, give_chain, take_chain, day);
-- Everything that quantiles of delivery times are made of: the table is not read.
CREATE INDEX order_values_day ON order_values (day, give_chain, take_chain, delivered_after, margin);

-- The sums of that by the day of the creation and the pair of chains. Each sum of values is beside the number of orders
-- that it is of. Creators between any chains are those of the pair 0 and 0.
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

-- In how many orders of a day a token was taken, given, or swapped for what was given.
CREATE TABLE order_tokens (
    day     BIGINT NOT NULL,
    chain   BIGINT NOT NULL,
    address BYTEA  NOT NULL,
    orders  BIGINT NOT NULL,
    PRIMARY KEY (chain, address, day)
);

-- Days that are to be summed up anew from order_values.
CREATE TABLE stale_days (day BIGINT PRIMARY KEY);

-- Metadata of tokens from their contracts. It does not change, but for what one endpoint alone said; operators correct it in
-- the configuration.
CREATE TABLE tokens (
    chain     BIGINT   NOT NULL,
    address   BYTEA    NOT NULL,
    decimals  SMALLINT NOT NULL,
    name      TEXT     NOT NULL,
    symbol    TEXT     NOT NULL,
    is_single BOOLEAN  NOT NULL,
    PRIMARY KEY (chain, address)
);

-- What became of venues in the comparisons of each day: in how many they quoted, how many of these they won, how many
-- of those were against another quote that could have been taken, and the sum of what they paid out more than the best of
-- the others, millionths of that.
CREATE TABLE venue_days (
    day       BIGINT NOT NULL,
    venue     TEXT   NOT NULL,
    quoted    BIGINT NOT NULL,
    won       BIGINT NOT NULL,
    contested BIGINT NOT NULL,
    gain      BIGINT NOT NULL,
    PRIMARY KEY (day, venue)
);

-- What endpoints have spent of their monthly plans: UNIX microseconds at which all of it is refilled.
CREATE TABLE plans (
    service  TEXT   NOT NULL,
    endpoint TEXT   NOT NULL,
    refilled BIGINT NOT NULL,
    PRIMARY KEY (service, endpoint)
);

-- Leases of jobs that one replica at a time may do, such as following a chain. epoch counts the holders and fences off
-- the transactions of earlier ones. expires is UNIX seconds by the database's clock.
CREATE TABLE leases (
    job     TEXT PRIMARY KEY,
    holder  TEXT             NOT NULL,
    epoch   BIGINT           NOT NULL,
    expires DOUBLE PRECISION NOT NULL
);
