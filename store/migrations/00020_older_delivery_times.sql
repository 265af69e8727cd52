-- +goose Up

-- Those of orders that were counted before they were kept: by itself, since the change of a table locks out everybody else
-- until its transaction ends, and this may take minutes.
UPDATE order_values SET delivered_after = (
    SELECT CASE WHEN MAX(f.block_time) > MAX(c.block_time) THEN MAX(f.block_time) - MAX(c.block_time) ELSE 0 END
    FROM events c JOIN events f ON f.order_id = c.order_id AND f.kind = 'fulfilled'
    WHERE c.order_id = order_values.id AND c.kind = 'created' HAVING COUNT(*) > 0
) WHERE fulfilled = 1 AND delivered_after IS NULL;

-- +goose Down
