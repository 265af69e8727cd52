-- +goose Up

-- Whether everything that the chain had was stored once: before that an index without orders says nothing of them.
ALTER TABLE checkpoints ADD COLUMN was_level SMALLINT NOT NULL DEFAULT 1;

-- +goose Down
ALTER TABLE checkpoints DROP COLUMN was_level;
