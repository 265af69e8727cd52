-- +goose Up

-- What endpoints have spent of their monthly plans: UNIX microseconds at which all of it is refilled.
CREATE TABLE plans (
    service  TEXT   NOT NULL,
    endpoint TEXT   NOT NULL,
    refilled BIGINT NOT NULL,
    PRIMARY KEY (service, endpoint)
);

-- +goose Down
DROP TABLE plans;
