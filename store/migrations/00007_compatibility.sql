-- +goose Up

-- The oldest schema version whose programs can use this database. A migration that takes something away from them, or
-- asks something new of what they write, raises it to its own number; one that only adds leaves it (docs/versions.md).
CREATE TABLE compatibility (oldest BIGINT NOT NULL);
INSERT INTO compatibility (oldest) VALUES (7);

-- +goose Down
DROP TABLE compatibility;
