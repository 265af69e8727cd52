package feed

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/ledger"
	"crossgate/store"
)

func person(n byte) chain.Address { return chain.NewAddress([]byte{19: n}) }

func TestFilters(t *testing.T) {
	code := uint32(7)
	created := order.Parties{
		Give: order.Offer{Chain: 1, Token: person(1)}, Take: order.Offer{Chain: 137, Token: person(2)},
		Maker: person(3), Receiver: person(4), ReferralCode: &code,
	}
	delivered := created
	delivered.Fulfiller, delivered.UnlockAuthority = person(5), person(6)
	happened := order.LogEntry{Order: order.ID{1}, Step: order.Happened, Before: order.StateCreated, After: order.StateFulfilled, Parties: delivered}
	retracted := order.LogEntry{Order: order.ID{1}, Step: order.Retracted, Before: order.StateFulfilled, After: order.StateCreated, Parties: created, Was: delivered}
	for name, c := range map[string]struct {
		filter              Filter
		happened, retracted bool
	}{
		"nothing":                 {Filter{}, true, true},
		"the order":               {Filter{Order: order.ID{1}}, true, true},
		"another order":           {Filter{Order: order.ID{2}}, false, false},
		"the taker":               {Filter{Taker: person(5)}, true, true}, // even after the delivery is gone
		"who may unlock":          {Filter{Taker: person(6)}, true, true},
		"another maker":           {Filter{Maker: person(5)}, false, false},
		"maker, chains and token": {Filter{Maker: person(3), GiveChains: []chain.ID{1}, TakeChains: []chain.ID{10, 137}, TakeToken: person(2)}, true, true},
		"the other way":           {Filter{GiveChains: []chain.ID{137}}, false, false},
		"referral code":           {Filter{ReferralCode: &code, Receiver: person(4), GiveToken: person(1)}, true, true},
		"another code":            {Filter{ReferralCode: new(uint32)}, false, false},
		"state":                   {Filter{States: []order.State{order.StateFulfilled}}, true, true},
		"another state":           {Filter{States: []order.State{order.StateSentUnlock}}, false, false},
		"final":                   {Filter{FinalOnly: true}, false, false},
	} {
		if got := c.filter.Matches(&happened); got != c.happened {
			t.Errorf("%s: the delivery matches: %v", name, got)
		}
		if got := c.filter.Matches(&retracted); got != c.retracted {
			t.Errorf("%s: its retraction matches: %v", name, got)
		}
	}
	happened.IsFinal = true
	if !(&Filter{FinalOnly: true}).Matches(&happened) {
		t.Error("what is final at once does not match")
	}
}

// TestReadersFromAnywhere read the same entries, whether these are in memory or not, and are notified of new ones.
func TestReadersFromAnywhere(t *testing.T) {
	db := must.Get(store.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "orders.db")))(t)
	defer db.Close()
	log := ledger.Ledger{DB: db, Keep: time.Hour}
	f := New(db, log.Keep, func(e order.LogEntry) (text, event []byte) { return []byte(e.Order.String()), nil })
	must.Get(f.readOn(t.Context()))(t)
	if part := must.Get(f.Next(t.Context(), 0, Filter{}, 1))(t); f.Check(t.Context(), part.Next) != nil {
		t.Errorf("readers of a log without entries resume at %d, which is unknown", part.Next)
	}
	f = New(db, log.Keep, f.encode)
	written := 0
	write := func(count int) {
		must.Get(log.Write(t.Context(), store.Lease{}, func(tx *ledger.Tx) error {
			for range count {
				written++
				tx.Add(order.Event{Order: order.ID{byte(written >> 8), byte(written)}, Fact: order.Created{Terms: order.Terms{Nonce: uint64(written)}}, At: order.At{
					Chain: 1, Block: uint64(written), Time: uint64(time.Now().Unix()),
				}})
			}
			return nil
		}))(t)
	}
	write(700)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { f.Run(ctx) })
	defer running.Wait()
	defer stop()
	read := func(after uint64, want int) (next uint64) {
		t.Helper()
		for got := 0; got < want; {
			part := must.Get(f.Next(t.Context(), after, Filter{}, 300))(t)
			for _, item := range part.Items {
				if item.Position <= after {
					t.Fatalf("position %d after %d", item.Position, after)
				}
				after, got = item.Position, got+1
			}
			if after = max(after, part.Next); got < want && part.Grown != nil {
				<-part.Grown
			}
			if got > want {
				t.Fatalf("%d entries, want %d", got, want)
			}
		}
		return after
	}
	next := read(0, 700)
	go write(50)
	end := read(next, 50)
	write(tailSize + 100)
	f.Look()
	last := read(end, tailSize+100)
	if read(0, written) != last {
		t.Error("two readers end at different positions")
	}
	gap := end - 50 // 50 entries were written some time after the first 700
	for after, want := range map[uint64]error{0: nil, last: nil, last + 1: ErrUnknown, gap: ErrUnknown, gap / 1e6 * 1e6: nil} {
		if err := f.Check(t.Context(), after); !errors.Is(err, want) {
			t.Errorf("Check(%d) = %v, want %v", after, err, want)
		}
	}
	log.Keep = -time.Hour
	must.Do(t, log.Expire(t.Context()))
	if err := f.Check(t.Context(), next); !errors.Is(err, ErrExpired) {
		t.Errorf("Check of what was deleted = %v", err)
	}
	if part, err := f.Next(t.Context(), next, Filter{}, 300); !errors.Is(err, ErrExpired) {
		t.Errorf("Next after what was deleted = up to %d, %v", part.Next, err)
	}
	must.Do(t, db.Close())
	part, err := f.Next(t.Context(), last, Filter{}, 1)
	if err := errors.Join(err, f.Check(t.Context(), part.Next)); err != nil {
		t.Errorf("a reader that keeps up needs the database: %v", err)
	}
}
