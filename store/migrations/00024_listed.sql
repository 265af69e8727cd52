-- +goose Up

-- What lists are searched by: a row for each order whose creation is known and for each swap, written in the transaction
-- that writes the order or the swap. at is the time of the creation or of the swap, cell is the give chain (27
-- bits), take chain (27), state (3), state of the external call (3) and type of trade (3) in one number, and who has no part in it is empty.
CREATE TABLE listed (
    id               BYTEA PRIMARY KEY,
    swap             SMALLINT NOT NULL,
    at               BIGINT   NOT NULL,
    cell             BIGINT   NOT NULL,
    referral_code    BIGINT   NOT NULL,
    maker            BYTEA    NOT NULL,
    creator          BYTEA    NOT NULL,
    receiver         BYTEA    NOT NULL,
    give_authority   BYTEA    NOT NULL,
    order_authority  BYTEA    NOT NULL,
    affiliate        BYTEA    NOT NULL,
    fulfiller        BYTEA    NOT NULL,
    unlock_authority BYTEA    NOT NULL,
    fulfilled_in     BYTEA    NOT NULL
);
INSERT INTO listed SELECT id, 0, created, ((give_chain % 134217728 * 134217728 + take_chain % 134217728) * 8 + state) * 64 + call * 8 + CASE trade_type WHEN '' THEN 0 ELSE 1 END,
    referral_code, maker, creator, receiver, give_authority, order_authority, affiliate, fulfiller, unlock_authority, fulfilled_in
    FROM order_list;
INSERT INTO listed SELECT id, 1, block_time, ((chain % 134217728 * 134217728 + chain % 134217728) * 8 + 2) * 64, referral_code, sender, sender, recipient, substr(sender, 1, 0),
    substr(sender, 1, 0), affiliate, substr(sender, 1, 0), substr(sender, 1, 0), substr(sender, 1, 0)
    FROM swaps WHERE true ON CONFLICT (id) DO NOTHING;

-- Newest first. Who may have a part in very many rows is found beside their cell, so that these are counted without
-- reading the table. Mostly the maker signs and receives too: only who is somebody else has an entry of his own.
CREATE INDEX listed_newest ON listed (at DESC, id, cell, swap);
CREATE INDEX listed_cell ON listed (cell, at DESC, id, swap);
CREATE INDEX listed_referral ON listed (referral_code, at DESC, id, cell, swap);
CREATE INDEX listed_maker ON listed (maker, at DESC, id);
CREATE INDEX listed_fulfiller ON listed (fulfiller, at DESC, id, cell, swap) WHERE length(fulfiller) > 0;
CREATE INDEX listed_unlock_authority ON listed (unlock_authority, at DESC, id, cell, swap) WHERE length(unlock_authority) > 0;
CREATE INDEX listed_affiliate ON listed (affiliate, at DESC, id) WHERE length(affiliate) > 0;
CREATE INDEX listed_other_creator ON listed (creator, at DESC) WHERE creator <> maker;
CREATE INDEX listed_other_receiver ON listed (receiver, at DESC) WHERE receiver <> maker;
CREATE INDEX listed_other_give_authority ON listed (give_authority, at DESC) WHERE give_authority <> maker AND swap = 0;
CREATE INDEX listed_other_order_authority ON listed (order_authority, at DESC) WHERE order_authority <> receiver AND swap = 0;
CREATE INDEX listed_fulfilled_in ON listed (fulfilled_in) WHERE length(fulfilled_in) > 0;

-- How many rows of listed came in a period of 2^21 seconds (24 days): in each cell, and with each referral code, which
-- takes the place of a cell and is below 2^32, as no cell is.
CREATE TABLE listed_counts (
    period BIGINT   NOT NULL,
    cell   BIGINT   NOT NULL,
    swap   SMALLINT NOT NULL,
    listed BIGINT   NOT NULL,
    PRIMARY KEY (period, cell, swap)
);
INSERT INTO listed_counts SELECT at / 2097152, cell, swap, COUNT(*) FROM listed GROUP BY 1, cell, swap;
INSERT INTO listed_counts SELECT at / 2097152, referral_code, swap, COUNT(*) FROM listed GROUP BY 1, referral_code, swap;

DROP TABLE order_list;
DROP TABLE order_counts;
DROP TABLE referral_counts;
DROP TABLE swap_counts;
DROP INDEX swaps_newest;
DROP INDEX swaps_of_chain;
DROP INDEX swaps_sender;
DROP INDEX swaps_recipient;
DROP INDEX swaps_affiliate;
DROP INDEX swaps_referral;
UPDATE compatibility SET oldest = 24;

-- +goose Down
DROP TABLE listed_counts;
DROP TABLE listed;
CREATE TABLE order_list (
    id BYTEA PRIMARY KEY, created BIGINT NOT NULL, give_chain BIGINT NOT NULL, take_chain BIGINT NOT NULL, state SMALLINT NOT NULL,
    call SMALLINT NOT NULL, trade_type TEXT NOT NULL, referral_code BIGINT NOT NULL, maker BYTEA NOT NULL, creator BYTEA NOT NULL,
    receiver BYTEA NOT NULL, give_authority BYTEA NOT NULL, order_authority BYTEA NOT NULL, fulfiller BYTEA NOT NULL,
    unlock_authority BYTEA NOT NULL, affiliate BYTEA NOT NULL, fulfilled_in BYTEA NOT NULL
);
CREATE INDEX order_list_newest ON order_list (created DESC, id, give_chain, take_chain, state, call, trade_type);
CREATE INDEX order_list_cell ON order_list (give_chain, take_chain, state, created DESC, id, call, trade_type);
CREATE INDEX order_list_referral ON order_list (referral_code, created DESC, id, give_chain, take_chain, state, call, trade_type);
CREATE INDEX order_list_maker ON order_list (maker, created DESC);
CREATE INDEX order_list_fulfiller ON order_list (fulfiller, created DESC) WHERE length(fulfiller) > 0;
CREATE INDEX order_list_unlock_authority ON order_list (unlock_authority, created DESC) WHERE length(unlock_authority) > 0;
CREATE INDEX order_list_affiliate ON order_list (affiliate, created DESC) WHERE length(affiliate) > 0;
CREATE INDEX order_list_fulfilled_in ON order_list (fulfilled_in) WHERE length(fulfilled_in) > 0;
CREATE INDEX order_list_other_creator ON order_list (creator, created DESC) WHERE creator <> maker;
CREATE INDEX order_list_other_receiver ON order_list (receiver, created DESC) WHERE receiver <> maker;
CREATE INDEX order_list_other_give_authority ON order_list (give_authority, created DESC) WHERE give_authority <> maker;
CREATE INDEX order_list_other_order_authority ON order_list (order_authority, created DESC) WHERE order_authority <> receiver;
CREATE TABLE order_counts (
    day BIGINT NOT NULL, give_chain BIGINT NOT NULL, take_chain BIGINT NOT NULL, state SMALLINT NOT NULL, call SMALLINT NOT NULL,
    trade_type TEXT NOT NULL, orders BIGINT NOT NULL, PRIMARY KEY (day, give_chain, take_chain, state, call, trade_type)
);
CREATE TABLE referral_counts (referral_code BIGINT PRIMARY KEY, orders BIGINT NOT NULL);
INSERT INTO unlisted SELECT id FROM orders; -- the older release lists them anew
CREATE TABLE swap_counts (day BIGINT NOT NULL, chain BIGINT NOT NULL, swaps BIGINT NOT NULL, PRIMARY KEY (day, chain));
INSERT INTO swap_counts SELECT block_time / 86400, chain, COUNT(*) FROM swaps GROUP BY 1, chain;
INSERT INTO swap_counts SELECT -1, chain, COUNT(*) FROM swaps GROUP BY chain;
CREATE INDEX swaps_newest ON swaps (block_time DESC, id, chain);
CREATE INDEX swaps_of_chain ON swaps (chain, block_time DESC, id);
CREATE INDEX swaps_sender ON swaps (sender, block_time DESC);
CREATE INDEX swaps_recipient ON swaps (recipient, block_time DESC);
CREATE INDEX swaps_affiliate ON swaps (affiliate, block_time DESC) WHERE length(affiliate) > 0;
CREATE INDEX swaps_referral ON swaps (referral_code, block_time DESC, id, chain);
UPDATE compatibility SET oldest = 7;
