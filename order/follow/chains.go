// Package follow reads chains into the ledger. Each chain has a Follower, a goroutine of Chains.Run. It polls the
// chain's head, less often where heads are announced, compares the blocks that were read with it (Settle) and reads on
// range by range (ReadOn), after a reorg from the fork. Of several processes on one PostgreSQL, the holder of a lease
// leads and the others watch. What others need of a follower is its State, one value for each moment. A Reader reads a
// chain apart from its follower. What ends answers that were given is reported to an Observer.
package follow

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/ledger"
	"crossgate/order/stats"
	"crossgate/store"
)

// Options say how chains are followed. Zero values stand for defaults.
type Options struct {
	Chains   chain.Registry    // families and block times; chains that it does not hold are not searched
	Lookback uint64            // blocks behind the head where following a new chain begins; 0: its first block
	Range    uint64            // most blocks to read at once; default 2000
	Pace     Pace              // how often chains are asked for news
	Ahead    int               // ranges that may be read ahead of those being stored, of all chains together; default 4
	Prices   stats.PriceSource // for statistics; nil: no values are known
	Observer Observer          // default: none
	Keep     time.Duration     // of the log's entries; 0: there is no log
	Logger   *slog.Logger

	Announcers map[chain.ID][]Announcer // of chains that need not be asked for every head; default: none

	readAhead chan struct{} // holds one value per range that is read ahead
}

func (o Options) withDefaults() Options {
	o.Range = cmp.Or(o.Range, 2000)
	o.Pace = o.Pace.WithDefaults()
	o.Ahead = cmp.Or(o.Ahead, 4)
	o.readAhead = make(chan struct{}, o.Ahead)
	o.Observer = cmp.Or(o.Observer, Observer(unobserved{}))
	o.Logger = cmp.Or(o.Logger, slog.Default())
	return o
}

// Chains are followed into a database.
type Chains struct {
	Options
	DB        *store.DB
	Followers []*Follower // ascending chain ids
	unknown   atomic.Pointer[map[chain.ID]uint64]
}

// New makes followers of sources over a database. They do nothing until Run.
func New(db *store.DB, sources map[chain.ID]order.Source, o Options) *Chains {
	c := &Chains{Options: o.withDefaults(), DB: db}
	c.unknown.Store(new(map[chain.ID]uint64))
	c.Pace.Together = c.askedTogether
	for id, source := range sources {
		c.Followers = append(c.Followers, newFollower(db, id, source, c.Options))
	}
	slices.SortFunc(c.Followers, func(a, b *Follower) int { return cmp.Compare(a.ID, b.ID) })
	return c
}

// Of returns the follower of a chain, nil where it is not followed.
func (c *Chains) Of(id chain.ID) *Follower {
	for _, f := range c.Followers {
		if f.ID == id {
			return f
		}
	}
	return nil
}

// Source is where a chain is read from; nil where it is not followed.
func (c *Chains) Source(id chain.ID) order.Source {
	if f := c.Of(id); f != nil {
		return f.Source
	}
	return nil
}

// Readers are the chains to read apart from those that follow them.
func (c *Chains) Readers() []*Reader {
	readers := make([]*Reader, len(c.Followers))
	for i, f := range c.Followers {
		readers[i] = newReader(c.DB, f.ID, f.Source, c.Options)
	}
	return readers
}

// Run follows every chain until ctx ends, and returns when all followers have stopped. A chain that
// cannot be read is tried again; it does not hold up the others.
func (c *Chains) Run(ctx context.Context) error {
	stopObserving, err := c.observe()
	if err != nil {
		return fmt.Errorf("instruments: %w", err)
	}
	var followers sync.WaitGroup
	for _, f := range c.Followers {
		followers.Go(func() { f.Run(ctx) })
	}
	followers.Go(func() { c.listen(ctx) })
	followers.Go(func() { c.countUnknown(ctx) })
	followers.Go(func() { c.catchUp(ctx) })
	followers.Wait()
	<-ctx.Done()
	return stopObserving()
}

// Ledger is for what may take its time.
func (c *Chains) Ledger() ledger.Ledger { return ledger.Ledger{DB: c.DB, Keep: c.Keep} }
