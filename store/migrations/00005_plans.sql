-- +goose Up

-- How far the monthly plans of endpoints are spent: UNIX microseconds at which all that was spent is refilled.
CREATE TABLE plans (
    service  TEXT   NOT NULL,
    endpoint TEXT   NOT NULL,
    refilled BIGINT NOT NULL,
    PRIMARY KEY (service, endpoint)
);

-- +goose Down
DROP TABLE plans;
