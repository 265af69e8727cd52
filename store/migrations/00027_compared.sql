-- +goose Up

-- On which sides an order is over and agreed with what the contracts store: 1 for the give chain, 2 for the take chain.
ALTER TABLE orders ADD COLUMN compared SMALLINT NOT NULL DEFAULT 0;
CREATE INDEX orders_uncompared ON orders (id) WHERE compared < 3;

-- +goose Down
DROP INDEX orders_uncompared;
ALTER TABLE orders DROP COLUMN compared;
