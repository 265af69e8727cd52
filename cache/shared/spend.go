package shared

import (
	"context"
	"errors"
	"time"

	"github.com/gomodule/redigo/redis"
)

var errMalformed = errors.New("malformed reply of the shared cache")

// Spend takes cost from a token bucket that all replicas share, if it holds that much. The bucket holds up to capacity
// and refills as time passes; everything is measured as the time that refilling takes. known is what the caller knows
// to be spent, for when the server does not. It returns what is spent now and, when that left too little, how long to
// wait. An error says that the server was unavailable or slow.
func (c *Cache) Spend(
	ctx context.Context, bucket Key, cost, capacity, known time.Duration,
) (spent, wait time.Duration, err error) {
	reply, err := c.call(ctx, c.quotas, spendScript, []string{quotaName(bucket)},
		microseconds(cost), microseconds(capacity), microseconds(known))
	if err != nil {
		return 0, 0, err
	}
	var spans [2]time.Duration
	if len(reply) != len(spans) {
		return 0, 0, errMalformed
	}
	for i := range spans {
		n, err := redis.Int64(reply[i], nil)
		if err != nil {
			return 0, 0, errMalformed
		}
		spans[i] = time.Duration(n) * time.Microsecond
	}
	return spans[0], spans[1], nil
}
