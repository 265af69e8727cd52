-- +goose Up

-- What became of venues in the comparisons of each UNIX day: in how many they quoted, how many of these they won, how many
-- of those were against another quote that could have been taken, and the sum of what they paid out more than the best of
-- the others, millionths of that.
CREATE TABLE venue_days (
    day       BIGINT NOT NULL,
    venue     TEXT   NOT NULL,
    quoted    BIGINT NOT NULL,
    won       BIGINT NOT NULL,
    contested BIGINT NOT NULL,
    gain      BIGINT NOT NULL,
    PRIMARY KEY (day, venue)
);

-- +goose Down
DROP TABLE venue_days;
