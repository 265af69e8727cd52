package shared

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/gomodule/redigo/redis"
)

var errMalformed = errors.New("malformed reply of the shared cache")

// Spend takes cost from a token bucket that all replicas share, if it holds that much. The bucket holds up to capacity
// and refills over time; all amounts are expressed as the time to refill them. known is the spending that the caller
// remembers, in case the server lost it. Spend returns the amount spent so far and, if too little was left, how long to
// wait. It fails if the server is unavailable or slow.
func (c *Cache) Spend(
	ctx context.Context, bucket Key, cost, capacity, known time.Duration,
) (spent, wait time.Duration, err error) {
	reply, err := c.call(ctx, c.quotas, spendScript, []string{namePrefix + "quota:" + bucket.text()},
		microseconds(cost), microseconds(capacity), microseconds(known))
	if err != nil {
		return 0, 0, err
	}
	spans, err := redis.Int64s(reply, nil)
	if err != nil || len(spans) != 2 {
		return 0, 0, errMalformed
	}
	return time.Duration(spans[0]) * time.Microsecond, time.Duration(spans[1]) * time.Microsecond, nil
}

// AttestLife is how long an attestation is valid.
const AttestLife = 6 * time.Second

// Attest records whether this replica has something that all replicas need, and returns how many others attested within
// the last AttestLife that they have it. It fails if the server is unavailable or slow.
func (c *Cache) Attest(ctx context.Context, what Key, has bool) (others int, err error) {
	reply, err := c.call(ctx, c.values, attestScript, []string{namePrefix + "attest:" + what.text()},
		c.replica, map[bool]string{false: "0", true: "1"}[has], strconv.FormatInt(AttestLife.Milliseconds(), 10))
	if err != nil {
		return 0, err
	}
	counts, err := redis.Ints(reply, nil)
	if err != nil || len(counts) != 1 {
		return 0, errMalformed
	}
	return counts[0], nil
}
