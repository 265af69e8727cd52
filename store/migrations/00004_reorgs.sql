-- +goose Up

-- How often blocks that had been read were withdrawn: this is how the replicas that do not follow the chain notice.
ALTER TABLE checkpoints ADD COLUMN reorgs BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE checkpoints DROP COLUMN reorgs;
