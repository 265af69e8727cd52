package gateway

import (
	"context"
	"errors"
	"sync/atomic"

	"crossgate/cache/shared"
)

// cutOffAfter is how many times in a row only this gateway must lack the database before it counts as cut off: gateways
// do not notice an outage simultaneously, and earlier attests count for a while. joinedAfter is how many times in a row
// it must then reach the database before it counts as connected: on a flapping link, balancers would otherwise add and
// remove it constantly. It does not wait if no other gateway is known to have the database.
const (
	attestInterval = shared.AttestLife / 3
	cutOffAfter    = 4
	joinedAfter    = 3
)

var errCutOff = errors.New("the database is unavailable to this gateway, and not to others")

// cutOff distinguishes an unavailable database from a gateway that is cut off from it: gateways attest in the shared
// cache that they reach the database. Without a shared cache a gateway never counts as cut off.
type cutOff struct {
	shared    *shared.Cache
	available func() error // of the database
	isAlone   atomic.Bool
	times     int // consecutive looks that contradicted isAlone
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

// err returns errCutOff while other gateways reach the database and this one does not.
func (c *cutOff) err() error {
	if c.isAlone.Load() {
		return errCutOff
	}
	return nil
}
