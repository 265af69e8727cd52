-- +goose Up

-- How long after its creation an order was delivered, seconds by the clocks of the two chains; NULL while it was not.
ALTER TABLE order_values ADD COLUMN delivered_after BIGINT;
-- Everything that quantiles are made of: the table is not read.
CREATE INDEX order_values_delivered ON order_values (day, give_chain, take_chain, delivered_after)
    WHERE delivered_after IS NOT NULL;

-- +goose Down
DROP INDEX order_values_delivered;
ALTER TABLE order_values DROP COLUMN delivered_after;
