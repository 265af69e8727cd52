-- +goose Up

-- Where to go on with delivery times of orders that were counted before these were kept, by their ids; no row: all have
-- theirs. One replica fills them in while all serve.
CREATE TABLE delivery_time_filling (next_id BYTEA NOT NULL);
INSERT INTO delivery_time_filling (next_id) SELECT id FROM order_values ORDER BY id LIMIT 1;

-- +goose Down
DROP TABLE delivery_time_filling;
