-- +goose Up

-- How often blocks of a chain that had been read were withdrawn: who does not follow the chain sees it here.
ALTER TABLE checkpoints ADD COLUMN reorgs BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE checkpoints DROP COLUMN reorgs;
