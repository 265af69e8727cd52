-- +goose Up

-- Which blocks of a chain were read a second time, or prove themselves what they hold: from proven_from to before
-- proven_end. What an earlier version has read is not proven; proof begins with what follows.
ALTER TABLE checkpoints ADD COLUMN proven_from BIGINT NOT NULL DEFAULT 0;
ALTER TABLE checkpoints ADD COLUMN proven_end BIGINT NOT NULL DEFAULT 0;
UPDATE checkpoints SET proven_from = block + 1, proven_end = block + 1;

-- Blocks that no endpoint could give as they must be: they are left out, and asked for again.
CREATE TABLE quarantined_blocks (
    chain  BIGINT NOT NULL,
    number BIGINT NOT NULL,
    reason TEXT   NOT NULL,
    since  BIGINT NOT NULL,
    PRIMARY KEY (chain, number)
);

-- +goose Down
DROP TABLE quarantined_blocks;
ALTER TABLE checkpoints DROP COLUMN proven_end;
ALTER TABLE checkpoints DROP COLUMN proven_from;
