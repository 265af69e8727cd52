-- +goose Up

-- How long after its creation an order was delivered, seconds by the clocks of the two chains; NULL while it was not.
ALTER TABLE order_values ADD COLUMN delivered_after BIGINT;
UPDATE order_values SET delivered_after = (
    SELECT CASE WHEN MAX(f.block_time) > MAX(c.block_time) THEN MAX(f.block_time) - MAX(c.block_time) ELSE 0 END
    FROM events c JOIN events f ON f.order_id = c.order_id AND f.kind = 'fulfilled'
    WHERE c.order_id = order_values.id AND c.kind = 'created' HAVING COUNT(*) > 0
) WHERE fulfilled = 1;
-- Everything that quantiles are made of: the table is not read.
CREATE INDEX order_values_delivered ON order_values (day, give_chain, take_chain, delivered_after)
    WHERE delivered_after IS NOT NULL;

-- +goose Down
DROP INDEX order_values_delivered;
ALTER TABLE order_values DROP COLUMN delivered_after;
