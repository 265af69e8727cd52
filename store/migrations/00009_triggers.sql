-- +goose Up

-- Triggers that noted what earlier releases wrote were made here, and are taken away by version 26.
SELECT 1;

-- +goose Down
