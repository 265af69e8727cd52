-- The schema is the same for SQLite and PostgreSQL; SQLite stores bytes in a BYTEA column unchanged. Hashes and
-- addresses are bytes as on their chains, amounts decimal digits, times UNIX seconds, days UNIX days, and chains the
-- API's numbers. SQLite stores tables that end in "clustered" in the index of their primary key; "clusters" marks that
-- key where PostgreSQL needs none. Numbers come before bytes and texts, since PostgreSQL would pad these to align them.

-- The oldest schema version whose programs can use this database. A migration that removes something they use, or
-- requires them to write something new, raises this to its own number; one that only adds leaves it (docs/versions.md).
CREATE TABLE compatibility (oldest BIGINT NOT NULL);
INSERT INTO compatibility (oldest) VALUES (1);

-- How far each chain has been read: all events from first_block to block are stored in events. A follower moves block,
-- a backfill first_block. reorgs counts withdrawals of blocks that had been read, so that replicas that do not follow
-- the chain notice them. Blocks from proven_from to before proven_end were read a second time, or prove their own
-- contents; from single_from on (0: none) they nevertheless rest on a single endpoint. settled is the newest block that
-- no single endpoint may withdraw. was_level: everything that the chain had was stored once; until then an index without
-- orders says nothing.
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
    settled     BIGINT   NOT NULL DEFAULT 0,
    was_level   SMALLINT NOT NULL DEFAULT 1
);

-- Blocks that were not final when they were read. A different hash at the same number shows a reorg.
CREATE TABLE blocks (
    chain  BIGINT NOT NULL,
    number BIGINT NOT NULL,
    hash   BYTEA  NOT NULL,
    PRIMARY KEY (chain, number)
);

-- Blocks that no endpoint returned complete and consistent: they are left out and requested again.
CREATE TABLE quarantined_blocks (
    chain  BIGINT NOT NULL,
    number BIGINT NOT NULL,
    reason TEXT   NOT NULL,
    since  BIGINT NOT NULL,
    PRIMARY KEY (chain, number)
);

-- Blocks known to belong to their chain: an endpoint with a different block of the same number is not used, and only an
-- operator can withdraw anything up to the newest. About one in a thousand and the newest are kept.
CREATE TABLE anchors (
    chain  BIGINT NOT NULL,
    number BIGINT NOT NULL,
    hash   BYTEA  NOT NULL,
    PRIMARY KEY (chain, number)
);

-- Numbers stored in place of addresses that occur in very many rows; 0 means an absent address.
CREATE TABLE addresses (
    address_number INTEGER PRIMARY KEY,
    address        BYTEA   NOT NULL UNIQUE
);

-- The events of orders. An order is its events folded, so nothing else is needed. kind is the position, starting at 1,
-- of a form in order/ledger's fact.go. initiator (-1: the maker) and party, an address in fact, are numbers of
-- addresses. open is 1 until the log (below) says that no reorg can undo the event.
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
-- The first bytes find a transaction as well as all of them would, in a sixth of the space.
CREATE INDEX events_of_transaction ON events (substr(tx, 1, 5));

-- How the events of recent days happened, became final and were retracted, in the order of the transactions that wrote
-- them: order.LogEntry. Positions are UNIX microseconds, higher where two would be equal.
CREATE TABLE log (
    position BIGINT PRIMARY KEY,
    order_id BYTEA  NOT NULL,
    entry    TEXT   NOT NULL
);
CREATE INDEX log_of_order ON log (order_id, position);

-- The newest position ever assigned, and the newest whose entry was deleted because of its age.
CREATE TABLE log_ends (newest BIGINT NOT NULL, deleted BIGINT NOT NULL);
INSERT INTO log_ends (newest, deleted) VALUES (0, 0);

-- Subscribers to the log: what to send them, up to which position that was done, and with which result. secrets is a
-- JSON list, newest first; configured: it is in the configuration file. failing_since and paused_until are UNIX
-- seconds, 0 if nothing fails and no pause was requested.
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

-- Entries of the log that could not be delivered immediately, and later ones of the same orders; dead: given up.
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

-- Folded orders, with the columns that are searched. Written in the transaction that changes their events. terms are
-- those in its events, usually in two of them; facts repeat terms only if they differ. While no known event has terms,
-- these and the chains are empty. What changes often is in tables of its own: PostgreSQL would copy whole rows.
CREATE TABLE orders (
    number     INTEGER PRIMARY KEY,
    give_chain BIGINT  NOT NULL,
    take_chain BIGINT  NOT NULL,
    id         BYTEA   NOT NULL,
    terms      BYTEA   NOT NULL
);
CREATE INDEX orders_id ON orders (substr(id, 1, 5));

-- Orders that must be valued again.
CREATE TABLE uncounted (order_number INTEGER PRIMARY KEY);

-- Orders that must be compared with the state of the contracts. compared is the side on which the order is complete and
-- agreed with it: 1 for the give chain, 2 for the take chain, 0 for none.
CREATE TABLE uncompared (
    order_number INTEGER  PRIMARY KEY,
    compared     SMALLINT NOT NULL
);

-- Orders locked for their unlock authority, and others whose creation is not known: those are in no list. locked is 0
-- for no, 1 for yes, 2 for fulfilled without a known creation: the give chain has to confirm it.
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

-- Swaps within a chain: each is one event of the router, and a row describes all of it. id is order/onchain's SwapID.
-- Without an affiliate, affiliate_fee is empty; affiliate is empty then, and if no event names it.
CREATE TABLE swaps (
    chain         BIGINT NOT NULL,
    block         BIGINT NOT NULL,
    log_index     BIGINT NOT NULL,
    block_time    BIGINT NOT NULL,
    referral_code BIGINT NOT NULL,
    block_hash    BYTEA  NOT NULL,
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
    PRIMARY KEY (chain, block, log_index)
);
CREATE INDEX swaps_id ON swaps (substr(id, 1, 5));
CREATE INDEX swaps_of_transaction ON swaps (substr(tx, 1, 5));

-- Lists are searched in this table: it has a row for each order whose creation is known and for each swap, written in
-- the same transaction as the order or swap. key orders rows by time, descending for the newest first: the time of the
-- creation or swap (32 bits), then the complement of the first 31 bits of the id, decremented while another row has
-- that key. cell combines the give chain (27 bits), take chain (27), state (3), state of the external call (3) and
-- trade type (3; 7 for swaps) in one number. Tokens, fulfillers and unlock authorities are numbers of addresses; other
-- addresses are empty if absent. A single byte means the maker in creator, receiver and give_authority, and the
-- receiver in order_authority, which is the usual case. Amounts are after patches, as bytes after their length, so that
-- they sort by value. usd is order_values.given for orders, -1 if unknown.
CREATE TABLE listed (
    key              BIGINT   NOT NULL /* clusters */,
    cell             BIGINT   NOT NULL,
    referral_code    BIGINT   NOT NULL,
    usd              BIGINT   NOT NULL,
    give_token       INTEGER  NOT NULL,
    take_token       INTEGER  NOT NULL,
    fulfiller        INTEGER  NOT NULL,
    unlock_authority INTEGER  NOT NULL,
    id               BYTEA    NOT NULL,
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
-- Addresses that may occur in very many rows are indexed with the cell, so that these are counted without reading the
-- table. Creators, receivers and authorities are indexed only if they differ from the usual address.
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

-- How many rows of listed each cell has for a subject: all rows, those with a referral code, with a token on one side,
-- or with a value. The low 33 bits of a subject hold the code or number, those above its kind; of a pair of tokens, the
-- low 62 bits hold two numbers. A period of 2^21 seconds (24 days) counts rows of that time; periods from -1 down count
-- rows by range of the token's amount, or of the value: twice its bit length, plus one if the second bit is set.
CREATE TABLE listed_counts (
    subject BIGINT NOT NULL,
    period  BIGINT NOT NULL,
    cell    BIGINT NOT NULL,
    listed  BIGINT NOT NULL,
    PRIMARY KEY (subject, period, cell)
) /* clustered */;

-- The contribution of each order whose creation is known to the statistics. give_token is what its maker paid, perhaps
-- swapped for the order's give token. Values are millionths of a USD at the time, NULL if unknown: given, fee and
-- affiliate at the creation, taken at the fulfilment.
CREATE TABLE order_values (
    order_number    INTEGER  PRIMARY KEY,
    day             INTEGER  NOT NULL,
    creator         INTEGER  NOT NULL,
    delivered_after INTEGER,           -- seconds by the clocks of the two chains; NULL if not delivered
    give_chain      BIGINT   NOT NULL,
    take_chain      BIGINT   NOT NULL,
    give_token      INTEGER  NOT NULL,
    take_token      INTEGER  NOT NULL,
    given           BIGINT,
    taken           BIGINT,
    fee             BIGINT,
    affiliate       BIGINT,
    active          SMALLINT NOT NULL,
    unpriced        SMALLINT NOT NULL, -- part of its value is unknown
    margin          SMALLINT           -- order.Margin; NULL if unknown, and for orders reserved for one taker
);
CREATE INDEX order_values_creator ON order_values (creator, give_chain, take_chain, day);
-- Covers everything that quantiles of delivery times are computed from: the table is not read.
CREATE INDEX order_values_day ON order_values (day, give_chain, take_chain, delivered_after, margin);

-- The sums of order_values by day of creation and pair of chains. Each sum of values has the number of orders in it
-- next to it. The pair 0 and 0 holds the creators between any chains.
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

-- The number of orders per day that took a token, gave it, or swapped it for the give token.
CREATE TABLE order_tokens (
    day     BIGINT NOT NULL,
    chain   BIGINT NOT NULL,
    address BYTEA  NOT NULL,
    orders  BIGINT NOT NULL,
    PRIMARY KEY (chain, address, day)
);

-- Days to be summed up again from order_values.
CREATE TABLE stale_days (day BIGINT PRIMARY KEY);

-- Metadata of tokens from their contracts. It is replaced only if it came from a single endpoint; operators correct it
-- in the configuration.
CREATE TABLE tokens (
    chain     BIGINT   NOT NULL,
    address   BYTEA    NOT NULL,
    decimals  SMALLINT NOT NULL,
    name      TEXT     NOT NULL,
    symbol    TEXT     NOT NULL,
    is_single BOOLEAN  NOT NULL,
    PRIMARY KEY (chain, address)
);

-- The results of venues in each day's comparisons: in how many a venue quoted, how many of these it won, how many of
-- those had another quote that could have been taken, and the sum of the margins over the best other payout, in
-- millionths of that.
CREATE TABLE venue_days (
    day       BIGINT NOT NULL,
    venue     TEXT   NOT NULL,
    quoted    BIGINT NOT NULL,
    won       BIGINT NOT NULL,
    contested BIGINT NOT NULL,
    gain      BIGINT NOT NULL,
    PRIMARY KEY (day, venue)
);

-- Spending from the monthly plans of endpoints: the UNIX microseconds at which all of it is refilled.
CREATE TABLE plans (
    service  TEXT   NOT NULL,
    endpoint TEXT   NOT NULL,
    refilled BIGINT NOT NULL,
    PRIMARY KEY (service, endpoint)
);

-- Leases of jobs that one replica at a time may do, such as following a chain. epoch counts the holders and fences off
-- transactions of earlier ones. expires is in UNIX seconds by the database's clock.
CREATE TABLE leases (
    job     TEXT PRIMARY KEY,
    holder  TEXT             NOT NULL,
    epoch   BIGINT           NOT NULL,
    expires DOUBLE PRECISION NOT NULL
);
