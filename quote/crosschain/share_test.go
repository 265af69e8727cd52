package crosschain_test

import (
	"context"
	"log/slog"
	"math/big"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/chain"
	"crossgate/quote"
	"crossgate/quote/crosschain"
	"crossgate/token"
	"crossgate/upstream/evm/swap"
)

// stall is a venue that quotes one for one on the other chain, once all callers wait for it.
type stall struct {
	quotes  atomic.Int64
	release chan struct{}
}

func (s *stall) Profile() quote.Profile {
	return quote.Profile{
		Name: "stall", Routers: map[chain.ID]chain.Address{there: router},
		Read: func(chain.Chain, quote.Tx) (quote.Call, error) { return quote.Call{}, quote.ErrRefused }, // builds no transactions
	}
}

func (s *stall) Quote(ctx context.Context, r quote.Swap) (quote.Quote, error) {
	s.quotes.Add(1)
	select {
	case <-s.release:
	case <-ctx.Done():
	}
	return quote.Quote{AmountOut: r.In.Amount, Gas: 1}, ctx.Err()
}

func (s *stall) Build(context.Context, quote.Swap, quote.Quote) (quote.Tx, error) {
	return quote.Tx{}, quote.ErrNoRoute
}

// counting are fees that count reads of the gas price, and answer none while they are silent.
type counting struct {
	fees
	read     *atomic.Int64
	isSilent *atomic.Bool
}

func (c counting) GasPrice(ctx context.Context, p quote.Priority) (quote.GasPrice, error) {
	c.read.Add(1)
	if c.isSilent.Load() {
		<-ctx.Done()
		return quote.GasPrice{}, ctx.Err()
	}
	return c.fees.GasPrice(ctx, p)
}

// TestWhoAskTogetherShareComparisonsAndCosts makes twenty requests for one order concurrently, and others later: the
// whole amount and a tenth are compared once for all, and a taker's costs are read again after half a block, beside a
// request that does not wait for them, and after a block before it.
func TestWhoAskTogetherShareComparisonsAndCosts(t *testing.T) {
	synctest.Test(t, askTogether)
}

func askTogether(t *testing.T) {
	const together = 20
	venue := &stall{release: make(chan struct{})}
	var asked, read atomic.Int64
	var silent atomic.Bool
	j := newJourney(func(o *crosschain.Options) {
		own := map[token.Key]token.Token{}
		for address, worth := range worths {
			own[token.Key{Chain: there, Address: address}] = token.Token{Decimals: worth.decimals, Symbol: "T", Name: "T"}
		}
		o.Swaps = awaited{quote.New(quote.Options{
			Registry: o.Registry, Venues: []quote.Venue{venue}, Logger: slog.New(slog.DiscardHandler),
			Chains: map[chain.ID]quote.Chain{there: {Guard: swap.Guard{}}},
			Tokens: token.NewDirectory(token.DirectoryOptions{Registry: o.Registry, Own: own, Prices: []token.PriceSource{
				func(context.Context, []token.Key) (map[token.Key]*big.Rat, error) { return nil, nil },
			}}),
		}), func() {
			if asked.Add(1) == 2*together {
				close(venue.release)
			}
		}}
		for id, c := range o.Chains {
			c.Fees = counting{read: &read, isSilent: &silent}
			o.Chains[id] = c
		}
	})
	var asking sync.WaitGroup
	for range together {
		asking.Go(func() {
			if _, err := j.Estimate(t.Context(), request(usd, dai, 1e9)); err != nil {
				t.Error(err)
			}
		})
	}
	asking.Wait()
	if n := venue.quotes.Load(); n != 2 {
		t.Errorf("%d quotes for %d who ask together, want those of the whole and of a tenth", n, together)
	}
	ask := func(amount uint64) int64 {
		before := read.Load()
		if _, err := j.Estimate(t.Context(), request(usd, dai, amount)); err != nil {
			t.Error(err)
		}
		return read.Load() - before
	}
	ask(1e9)
	if n := venue.quotes.Load(); n != 2 {
		t.Errorf("%d quotes after another in the same block, want 2", n)
	}
	if n := ask(2e9); n != 0 {
		t.Errorf("the price of gas is read %d times in the same block, want none", n)
	}
	time.Sleep(900 * time.Millisecond)
	if n := ask(4e9); n != 0 {
		t.Errorf("the price of gas is read %d times within half a block, want none", n)
	}
	for _, isSilent := range []bool{true, false} {
		silent.Store(isSilent)
		time.Sleep(time.Second) // half a block
		if n := ask(3e9); n == 0 {
			t.Error("a taker's costs are those of another block")
		}
	}
}

// awaited are swaps that call asked on each request.
type awaited struct {
	*quote.Estimator
	asked func()
}

func (a awaited) Estimate(ctx context.Context, r quote.Request) (quote.Estimate, error) {
	a.asked()
	return a.Estimator.Estimate(ctx, r)
}
