package gateway

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"crossgate/cache/shared"
)

// cutOffAfter is how many times in a row a gateway must find itself alone without the database before it says so: an
// outage is not noticed by all gateways at the same moment, and what they said of it before counts for a while.
const (
	attestInterval = shared.AttestLife / 3
	cutOffAfter    = 4
)

var errCutOff = errors.New("the database is unavailable to this gateway, and not to others")

// cutOff tells a database that is away from a gateway that is cut off from it: gateways tell each other by the shared
// cache whether they reach it. One without a shared cache does not know, and counts as not cut off.
type cutOff struct {
	shared    *shared.Cache
	available func() error // of the database
	times     int          // in a row, at which others had the database and this gateway did not
	isAlone   atomic.Bool
}

// run looks until ctx ends.
func (c *cutOff) run(ctx context.Context) {
	tick := time.NewTicker(attestInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			c.look(ctx)
		}
	}
}

func (c *cutOff) look(ctx context.Context) {
	has := c.available() == nil
	others, err := c.shared.Attest(ctx, shared.KeyOf("database"), has)
	if has || err != nil || others == 0 {
		c.times = 0
	} else {
		c.times++
	}
	c.isAlone.Store(c.times >= cutOffAfter)
}

// err is errCutOff while only this gateway is without the database.
func (c *cutOff) err() error {
	if c.isAlone.Load() {
		return errCutOff
	}
	return nil
}
