-- +goose Up

-- On which sides an order is over and agreed with what the contracts store: 1 for the give chain, 2 for the take chain.
ALTER TABLE orders ADD COLUMN compared SMALLINT NOT NULL DEFAULT 0;
CREATE INDEX orders_uncompared ON orders (id) WHERE compared < 3;

-- First block that was read a second time and is one endpoint's word all the same; 0: there is none.
ALTER TABLE checkpoints ADD COLUMN single_from BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE checkpoints DROP COLUMN single_from;
DROP INDEX orders_uncompared;
ALTER TABLE orders DROP COLUMN compared;
