-- +goose Up

-- Days whose statistics are to be summed up anew from order_values, after orders of them were valued.
CREATE TABLE stale_days (day BIGINT PRIMARY KEY);

-- In how many orders of a day a token was taken, given, or swapped for what was given.
DROP TABLE order_tokens;
CREATE TABLE order_tokens (
    day     BIGINT NOT NULL,
    chain   BIGINT NOT NULL,
    address BYTEA  NOT NULL,
    orders  BIGINT NOT NULL,
    PRIMARY KEY (chain, address, day)
);
INSERT INTO stale_days SELECT DISTINCT day FROM order_values;

-- Who is new on which day follows from order_values.
DROP TABLE order_creators;
CREATE INDEX order_values_creator ON order_values (creator, give_chain, take_chain, day);

-- Delivery times of orders that were valued before these were kept.
UPDATE order_values SET delivered_after = (
    SELECT CASE WHEN MAX(f.block_time) > MAX(c.block_time) THEN MAX(f.block_time) - MAX(c.block_time) ELSE 0 END
    FROM events c JOIN events f ON f.order_id = c.order_id AND f.kind = 'fulfilled'
    WHERE c.order_id = order_values.id AND c.kind = 'created' HAVING COUNT(*) > 0
) WHERE fulfilled = 1 AND delivered_after IS NULL AND EXISTS (SELECT 1 FROM delivery_time_filling);
DROP TABLE delivery_time_filling;
DROP INDEX order_values_delivered;
CREATE INDEX order_values_day ON order_values (day, give_chain, take_chain, delivered_after);
UPDATE compatibility SET oldest = 25;

-- +goose Down
DROP INDEX order_values_day;
CREATE INDEX order_values_delivered ON order_values (day, give_chain, take_chain, delivered_after)
    WHERE delivered_after IS NOT NULL;
CREATE TABLE delivery_time_filling (next_id BYTEA NOT NULL);
DROP INDEX order_values_creator;
CREATE TABLE order_creators (
    creator BYTEA NOT NULL, give_chain BIGINT NOT NULL, take_chain BIGINT NOT NULL, day BIGINT NOT NULL, orders BIGINT NOT NULL,
    PRIMARY KEY (creator, give_chain, take_chain, day)
);
INSERT INTO order_creators SELECT creator, give_chain, take_chain, day, COUNT(*) FROM order_values
    GROUP BY creator, give_chain, take_chain, day;
INSERT INTO order_creators SELECT creator, 0, 0, day, COUNT(*) FROM order_values GROUP BY creator, day;
DROP TABLE order_tokens;
CREATE TABLE order_tokens (chain BIGINT NOT NULL, address BYTEA NOT NULL, orders BIGINT NOT NULL, PRIMARY KEY (chain, address));
INSERT INTO order_tokens SELECT chain, address, COUNT(*) FROM (
    SELECT take_chain AS chain, take_token AS address, id FROM order_values
    UNION SELECT give_chain, CASE WHEN length(swapped) > 0 THEN swapped ELSE give_token END, id FROM order_values
) AS used GROUP BY chain, address;
INSERT INTO uncounted SELECT id FROM order_values WHERE day IN (SELECT day FROM stale_days);
DROP TABLE stale_days;
UPDATE compatibility SET oldest = 24;
