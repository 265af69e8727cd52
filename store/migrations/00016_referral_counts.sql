-- +goose Up

-- How many rows of order_list have each referral code: a tenth of all orders may share one, which takes long to count.
CREATE TABLE referral_counts (
    referral_code BIGINT PRIMARY KEY,
    orders        BIGINT NOT NULL
);
INSERT INTO referral_counts SELECT referral_code, COUNT(*) FROM order_list GROUP BY referral_code;

-- +goose Down
DROP TABLE referral_counts;
