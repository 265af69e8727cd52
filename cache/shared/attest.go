package shared

import (
	"context"
	"strconv"
	"time"

	"github.com/gomodule/redigo/redis"
)

// AttestLife is for how long an attestation counts.
const AttestLife = 6 * time.Second

// Attest says whether this replica has what all replicas need, and returns how many others say that they have it. What
// was said counts for AttestLife. An error says that the server was unavailable or slow.
func (c *Cache) Attest(ctx context.Context, what Key, has bool) (others int, err error) {
	said := "0"
	if has {
		said = "1"
	}
	reply, err := c.call(ctx, c.values, attestScript, []string{attestName(what)},
		c.replica, said, strconv.FormatInt(AttestLife.Milliseconds(), 10))
	if err != nil {
		return 0, err
	}
	if len(reply) != 1 {
		return 0, errMalformed
	}
	count, err := redis.Int(reply[0], nil)
	if err != nil {
		return 0, errMalformed
	}
	return count, nil
}
