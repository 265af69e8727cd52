// Package follow reads chains into the ledger. Each chain has a Follower, a goroutine of Chains.Run. It polls the
// chain's head, less often if heads are announced, compares the blocks that were read with it (Settle) and reads
// further ranges (ReadOn), after a reorg from the fork. Of several processes on one PostgreSQL, the holder of a lease
// leads and the others watch. A follower's State is an immutable snapshot for others. A Reader reads a chain
// independently of its follower. Changes that invalidate earlier answers are reported to an Observer.
package follow

import (
	"cmp"
	"context"
	"encoding/json"
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

// Options configure how chains are followed. Zero values mean defaults.
type Options struct {
	Chains   chain.Registry    // families and block times; other chains are not searched
	Lookback uint64            // blocks behind the head at which a new chain is begun; 0: at its first block
	Range    uint64            // maximum number of blocks to read at a time; default 2000
	Pace     Pace              // how often chains are polled
	Prices   stats.PriceSource // for statistics; nil: values are unknown
	Observer Observer          // default: none
	Keep     time.Duration     // how long log entries are kept; 0: there is no log
	Logger   *slog.Logger

	Announcers map[chain.ID][]Announcer // of chains that need not be polled for every head; default: none

	readAhead chan struct{} // holds one value per range being read ahead
}

func (o Options) withDefaults() Options {
	o.Range = cmp.Or(o.Range, 2000)
	o.Pace = o.Pace.WithDefaults()
	o.readAhead = make(chan struct{}, 4) // ranges that all chains together may read ahead of storing
	o.Observer = cmp.Or(o.Observer, Observer(unobserved{}))
	o.Logger = cmp.Or(o.Logger, slog.Default())
	return o
}

// Chains holds the followed chains and the database that they are read into.
type Chains struct {
	Options
	DB        *store.DB
	Followers []*Follower // ascending by chain ID
	unknown   atomic.Pointer[map[chain.ID]uint64]
	revalued  time.Time // when orders without prices were last counted again; used only by catchUp
}

// New returns followers of sources, with a database to store into. They do nothing until Run.
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

// Of returns the follower of a chain, nil if the chain is not followed.
func (c *Chains) Of(id chain.ID) *Follower {
	for _, f := range c.Followers {
		if f.ID == id {
			return f
		}
	}
	return nil
}

// Source returns the source of a chain, nil if the chain is not followed.
func (c *Chains) Source(id chain.ID) order.Source {
	if f := c.Of(id); f != nil {
		return f.Source
	}
	return nil
}

// Readers returns, for every chain, a reader that is independent of its follower.
func (c *Chains) Readers() []*Reader {
	readers := make([]*Reader, len(c.Followers))
	for i, f := range c.Followers {
		readers[i] = newReader(c.DB, f.ID, f.Source, c.Options)
	}
	return readers
}

// Run follows every chain until ctx ends, and returns when all followers have stopped. A chain that cannot be read is
// retried without holding up the others.
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

// Ledger returns a ledger without time limits on its statements.
func (c *Chains) Ledger() ledger.Ledger { return ledger.Ledger{DB: c.DB, Keep: c.Keep} }

// Observer is notified of changes that invalidate earlier answers, and of data that answers will need. Its methods are
// called by several goroutines and must return immediately: followers and requests wait for them.
type Observer interface {
	// OrdersChanged reports orders about which this process, or another one on the same PostgreSQL, stored something
	// new; nil if any order may have changed.
	OrdersChanged(changes []order.Change)
	// BranchChanged reports that blocks of a chain may have been dropped, before any answer is given on the new branch:
	// answers whose basis is not final may be wrong.
	BranchChanged(id chain.ID)
	// OrderSeen reports an order whose chains are about to be asked for its events, so that other data about it can be
	// fetched at the same time.
	OrderSeen(ctx context.Context, o *order.Order)
}

// unobserved is the default Observer. It ignores everything.
type unobserved struct{}

func (unobserved) OrdersChanged([]order.Change)            {}
func (unobserved) BranchChanged(chain.ID)                  {}
func (unobserved) OrderSeen(context.Context, *order.Order) {}

// listen passes on the notifications of all replicas until ctx ends. Without a connection notifications are lost: after
// each reconnect, any order may have changed.
func (c *Chains) listen(ctx context.Context) {
	if !c.DB.IsReplicated() {
		return
	}
	var failure store.Failure
	for {
		err := c.listenOnce(ctx, &failure)
		if ctx.Err() != nil {
			return
		}
		failure.Log(ctx, c.Logger, err, "notifications of other replicas interrupted", "", "retry_in", store.LeaseInterval)
		if !order.Wait(ctx, store.LeaseInterval, nil) {
			return
		}
	}
}

func (c *Chains) listenOnce(ctx context.Context, failure *store.Failure) error {
	subscription, err := c.DB.Subscribe(ctx, ledger.Channel, demandChannel)
	if err != nil {
		return err
	}
	defer subscription.Close(ctx)
	c.Observer.OrdersChanged(nil)
	for {
		failure.Log(ctx, c.Logger, nil, "", "notifications of other replicas arrive again")
		channel, payload, err := subscription.Next(ctx)
		if err != nil {
			return err
		}
		if channel == demandChannel {
			c.hearDemand(payload)
			continue
		}
		var changes []order.Change
		if err := json.Unmarshal([]byte(payload), &changes); err != nil {
			return fmt.Errorf("notification: %w", err)
		}
		c.Observer.OrdersChanged(changes)
	}
}
