package gateway

import (
	"context"
	"errors"
	"sync/atomic"

	"crossgate/cache/shared"
)

// cutOffAfter is how many times in a row a gateway must find itself alone without the database before it says so: an
// outage is not noticed by all gateways at the same moment, and what they said of it before counts for a while.
// joinedAfter is how many times in a row it must reach the database then until it says that: over a link that comes and
// goes, balancers would take it in and out all the time. When no other gateway is known to be better off, it does not
// wait.
const (
	attestInterval = shared.AttestLife / 3
	cutOffAfter    = 4
	joinedAfter    = 3
)

var errCutOff = errors.New("the database is unavailable to this gateway, and not to others")

// cutOff distinguishes an unavailable database from a gateway that is cut off from it: gateways exchange by the shared
// cache whether they reach it. One without a shared cache does not know, and counts as not cut off.
type cutOff struct {
	shared    *shared.Cache
	available func() error // of the database
	isAlone   atomic.Bool
	times     int // in a row, at which that looked wrong
}

func (c *cutOff) look(ctx context.Context) {
	has := c.available() == nil
	others, err := c.shared.Attest(ctx, shared.KeyOf("database"), has)
	wasAlone, isAlone := c.isAlone.Load(), !has && err == nil && others > 0
	if isAlone == wasAlone {
		c.times = 0
		return
	}
	c.times++
	enough := cutOffAfter
	switch {
	case wasAlone && has && err == nil:
		enough = joinedAfter
	case wasAlone:
		enough = 1
	}
	if c.times >= enough {
		c.times = 0
		c.isAlone.Store(isAlone)
	}
}

// err is errCutOff while only this gateway is without the database.
func (c *cutOff) err() error {
	if c.isAlone.Load() {
		return errCutOff
	}
	return nil
}
