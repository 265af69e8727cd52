package quote

import (
	"cmp"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"crossgate/chain"
	"crossgate/token"
)

// defaultWindow is how long to wait once a venue has quoted: venues that need two calls took 0.8 to 1.3 s.
const defaultWindow = 2500 * time.Millisecond

// Options configures an Estimator.
type Options struct {
	Registry chain.Registry
	Venues   []Venue
	Tokens   *token.Directory
	Chains   map[chain.ID]Chain
	Window   time.Duration    // 2.5 s if zero
	History  *History         // of venues; the estimator's own if nil
	Logger   *slog.Logger     // for failing venues and refused transactions; slog.Default() if nil
	Now      func() time.Time // time.Now by default
}

// Estimator answers swap requests. It is safe for concurrent use.
type Estimator struct {
	Options
	venues   []profiledVenue
	rounds   roundCache
	measures *measures
	asking   sync.WaitGroup // rounds and venue requests in flight
}

// profiledVenue is a venue with what it declares about itself.
type profiledVenue struct {
	venue   Venue
	profile Profile
}

// New returns an Estimator over o.Venues. Equal quotes are ranked in the sequence of the venues.
func New(o Options) *Estimator {
	o.Window, o.Logger = cmp.Or(o.Window, defaultWindow), cmp.Or(o.Logger, slog.Default())
	if o.History == nil {
		o.History = &History{}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	e := &Estimator{Options: o, rounds: roundCache{entries: map[roundKey]*roundEntry{}}, measures: newMeasures()}
	for _, v := range o.Venues {
		e.venues = append(e.venues, profiledVenue{v, v.Profile()})
	}
	return e
}

// Close waits for venue requests in flight, including late and cancelled ones. Call it after the last Estimate.
func (e *Estimator) Close() { e.asking.Wait() }

// Serves reports whether any venue serves a chain.
func (e *Estimator) Serves(id chain.ID) bool {
	_, err := e.serving(id)
	return err == nil
}

func (e *Estimator) serving(id chain.ID) ([]profiledVenue, error) {
	serving := make([]profiledVenue, 0, len(e.venues))
	for _, one := range e.venues {
		if _, served := one.profile.Routers[id]; served {
			serving = append(serving, one)
		}
	}
	if _, known := e.Registry.Chain(id); !known || len(serving) == 0 {
		return nil, fmt.Errorf("chain %d: %w", id, ErrUnsupportedChain)
	}
	return serving, nil
}
