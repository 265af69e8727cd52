-- +goose Up

-- Delivery times of older orders were filled in here, while nobody could start: now that is done beside all else, from the
-- next migration on.
SELECT 1;

-- +goose Down
