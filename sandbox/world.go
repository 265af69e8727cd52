// Package sandbox is a small world outside the gateway, in one process: real EVM chains in memory with the order
// protocol's contracts at their real addresses, a TRON chain and a Solana ledger, a history of orders, swap venues over
// the chains' pools, and controls that change all of it or make it fail. It serves people who develop wallets offline,
// and it is the gateway's own test double.
//
// Start builds each chain from its genesis (genesis.go, exchange.go), which places compiled contracts with their
// storage instead of deploying them, on a go-ethereum node without peers (node.go). It plays the history of history.txt
// (script.go, lifecycle.go), which ends at the present, and serves everything on one port (server.go): each chain's
// JSON-RPC under /rpc/<chain id>, each venue under /venues/<name>, and the control calls under /sandbox (control.go).
// Accounts, orders and transaction hashes are the same at every start: keys derive from fixed texts, and nothing in a
// transaction depends on the clock.
//
// A request for a chain or a venue first meets its faults (fault.go). A control call becomes a transaction of one of
// the sandbox's accounts, sealed in a block of its own. GET /sandbox/world reads states back from the contracts, so
// that it cannot disagree with them.
//
// All methods of a World may be called from any goroutine. Blocks of a chain are sealed one at a time.
package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"crossgate/chain"
)

// Options configure a world. The zero value is an independent world on a free port.
type Options struct {
	// Listen is the address of the one port that serves the control calls, the chains' RPC and the venues. Default
	// 127.0.0.1:0.
	Listen string
	// Now is the world's clock, by default the real one.
	Now func() time.Time
	// BlockTime makes every chain add a block at this interval. Zero: only when there is a transaction.
	BlockTime time.Duration
	// Finality is how many blocks the finalized block is behind the newest one, on all chains but Solana. Default 6.
	Finality uint64
	// Batch makes the taker fulfil new orders as they come, and unlock this many at a time. Zero: it runs only on a
	// control call.
	Batch int
	// Recorded reuses the history, including its times, of the first such world in the process: playing it takes most
	// of a start.
	Recorded bool
	// Log receives errors that occur after the start. Default: discarded.
	Log *slog.Logger
}

// World is everything outside the gateway. It runs until Close.
type World struct {
	chains []*Chain // ascending ids
	solana *Solana
	cast   cast
	titles map[common.Hash]string // of the history's orders, by id
	others []OtherTransaction
	now    func() time.Time
	log    *slog.Logger
	// lastSalt is that of the newest order created by a control call.
	lastSalt atomic.Uint64
	// taking is held while the taker runs.
	taking sync.Mutex

	url    string
	venues []Venue
	prices Venue
	faults *faults
	server *http.Server

	stop    context.CancelFunc
	running sync.WaitGroup
}

// Start builds the chains, plays their history, which ends at the present, and serves the result. Everything in it but
// the blocks' times is the same at every start. ctx bounds the start only.
func Start(ctx context.Context, o Options) (*World, error) {
	o = o.withDefaults()
	w := &World{cast: newCast(), titles: map[common.Hash]string{}, now: o.Now, log: o.Log, faults: newFaults()}
	if err := w.start(ctx, o); err != nil {
		return nil, errors.Join(fmt.Errorf("sandbox: %w", err), w.Close())
	}
	return w, nil
}

func (o Options) withDefaults() Options {
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

func (w *World) start(ctx context.Context, o Options) error {
	for _, s := range specs {
		s.tags.finalized = cmp.Or(o.Finality, s.tags.finalized)
		c, err := newChain(s, w.cast)
		if err != nil {
			return err
		}
		w.chains = append(w.chains, c)
	}
	beginning := o.Now().Add(-historyLength)
	var err error
	if w.solana, err = newSolana(beginning, w.cast); err != nil {
		return err
	}
	history := w.play
	if o.Recorded {
		history = w.takeOver
	}
	if err := history(ctx, beginning); err != nil {
		return err
	}
	w.solana.ledger.Pass(o.Now())
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", o.Listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	w.url = URLOf(listener)
	w.server = &http.Server{Handler: w.handler(), ReadHeaderTimeout: 10 * time.Second}
	var running context.Context
	running, w.stop = context.WithCancel(context.WithoutCancel(ctx))
	for _, c := range w.chains {
		w.running.Go(func() { c.node.run(running, o.Now, o.BlockTime, o.Log) })
	}
	w.running.Go(func() { w.solana.run(running, o.Now, o.BlockTime) })
	if o.Batch > 0 {
		w.running.Go(func() { w.takeAll(running, min(o.Batch, largestBatch)) })
	}
	w.running.Go(func() {
		if err := w.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			w.log.Error("sandbox server", "error", err)
		}
	})
	return nil
}

// Close stops the server and the chains.
func (w *World) Close() error {
	var mistakes []error
	if w.server != nil {
		w.faults.end()
		mistakes = append(mistakes, w.server.Close())
	}
	if w.stop != nil {
		w.stop()
	}
	w.running.Wait()
	for _, c := range w.chains {
		mistakes = append(mistakes, c.node.Close())
	}
	return errors.Join(mistakes...)
}

// URLOf returns the URL at which a program on this machine, or behind a container's published port, reaches a listener.
func URLOf(l net.Listener) string {
	return "http://" + strings.Replace(l.Addr().String(), "[::]", "127.0.0.1", 1)
}

// URL returns where the control calls, the chains' RPC and the venues are served.
func (w *World) URL() string { return w.url }

// Solana returns the Solana chain.
func (w *World) Solana() *Solana { return w.solana }

// Chains returns the chains that run on EVM nodes, by ascending id.
func (w *World) Chains() []*Chain { return w.chains }

// Chain returns the chain with id.
func (w *World) Chain(id chain.ID) (c *Chain, here bool) {
	for _, c := range w.chains {
		if c.Facts.ID == id {
			return c, true
		}
	}
	return nil, false
}

func (w *World) known(id chain.ID) (*Chain, error) {
	if c, here := w.Chain(id); here {
		return c, nil
	}
	return nil, fmt.Errorf("chain %s is not in the sandbox", id)
}

// Takers returns the accounts that fulfil orders.
func (w *World) Takers() []Account { return w.cast.takers }

// Accounts returns the accounts for users of the sandbox, with coin and tokens on every chain.
func (w *World) Accounts() []Account { return w.cast.users }

// Venues returns the swap venues, sorted by name.
func (w *World) Venues() []Venue { return w.venues }

// Prices returns the source of USD prices.
func (w *World) Prices() Venue { return w.prices }
