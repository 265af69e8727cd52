package query

import (
	"database/sql"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/audit"
	"crossgate/order/follow"
	"crossgate/order/ledger"
	"crossgate/store"
)

const ever = 200 * 365 * 24 * time.Hour // blocks of the tests are old

// held is a table that a consumer builds from the log, with the last step of each event.
type held struct {
	position uint64
	orders   map[order.ID]order.LogEntry
	events   map[heldEvent]order.Step
	counts   map[order.Step]int
}

type heldEvent struct {
	chain chain.ID
	block chain.Hash
	index uint
}

func newHeld() *held {
	return &held{orders: map[order.ID]order.LogEntry{}, events: map[heldEvent]order.Step{}, counts: map[order.Step]int{}}
}

// apply applies an entry, and fails if it cannot follow the entries before it.
func (h *held) apply(t *testing.T, e order.LogEntry) {
	t.Helper()
	if e.Position <= h.position {
		t.Fatalf("position %d after %d", e.Position, h.position)
	}
	h.position = e.Position
	of := heldEvent{e.At.Chain, e.At.BlockHash, e.At.LogIndex}
	if was := h.orders[e.Order].After; was != e.Before {
		t.Fatalf("%s %s of order %s leads from %s, which was %s", e.Kind, e.Step, e.Order, e.Before, was)
	}
	before := h.events[of]
	if e.Step == order.Happened && before != 0 && before != order.Retracted || e.Step != order.Happened && before != order.Happened {
		t.Fatalf("%s of %s in block %d of chain %d after it was %q", e.Step, e.Kind, e.At.Block, e.At.Chain, before)
	}
	h.events[of] = e.Step
	if e.IsFinal {
		h.events[of] = order.Final
	}
	h.counts[h.events[of]]++
	h.orders[e.Order] = e
	if e.After == order.None {
		delete(h.orders, e.Order)
	}
}

// read applies all new entries, a few at a time.
func (h *held) read(t *testing.T, l ledger.Ledger) {
	t.Helper()
	for {
		part := must.Get(l.Entries(t.Context(), h.position, order.ID{}, 7))(t)
		for _, e := range part {
			h.apply(t, e)
		}
		if len(part) == 0 {
			return
		}
	}
}

// checkIndex compares the table with the orders in the index.
func (h *held) checkIndex(t *testing.T, l ledger.Ledger) {
	t.Helper()
	ids := allOrders(t, l)
	folded := must.Get(ledger.FoldedOrders(t.Context(), l, ids))(t)
	if len(h.orders) != len(folded) {
		t.Fatalf("the log leads to %d orders, the index has %d", len(h.orders), len(folded))
	}
	for id, o := range folded {
		want := order.EntryOf(order.Final, order.Event{Order: id, Fact: order.Cancelled{}}, o, o)
		got := h.orders[id]
		if diff := cmp.Diff(want.Parties, got.Parties, compare); diff != "" || got.After != o.State {
			t.Fatalf("order %s is %s by the log and %s in the index (-index +log):\n%s", id, got.After, o.State, diff)
		}
	}
}

// orderTraffic advances orders on two chains whose newest blocks are dropped again and again.
type orderTraffic struct {
	*rand.Rand
	chains [2]*testChain
	deals  []deal
	steps  []int // progress of each deal
	open   []int // indexes of the deals under way
}

func (o *orderTraffic) course(i int) []told {
	d := o.deals[i]
	if i%7 == 0 {
		return []told{d.created(), {d.id, order.Sent{Kind: order.Cancel}}, {d.id, order.Claimed{Kind: order.Cancel}}}
	}
	return []told{d.created(), d.fulfilled(), d.sentUnlock(), d.claimedUnlock()}
}

// mine adds a block to a chain: some orders begin, others take a step.
func (o *orderTraffic) mine(l *testChain, begin int) {
	var txs [][]told
	for ; begin > 0 && len(o.deals) < cap(o.deals); begin-- {
		d := newDeal(1, 1, 137)
		binary.BigEndian.PutUint64(d.id[:], uint64(len(o.deals)+1))
		d.terms.Nonce = uint64(len(o.deals) + 1)
		o.open = append(o.open, len(o.deals))
		o.deals, o.steps = append(o.deals, d), append(o.steps, 0)
	}
	for range min(len(o.open), 4*cap(o.deals)/100+2) {
		at := o.IntN(len(o.open))
		i := o.open[at]
		txs = append(txs, []told{o.course(i)[o.steps[i]]})
		if o.steps[i]++; o.steps[i] == len(o.course(i)) {
			o.open = slices.Delete(o.open, at, at+1)
		}
	}
	l.mine(txs...)
}

// rewrite drops the newest depth blocks of a chain, and adds others with some of the same events.
func (o *orderTraffic) rewrite(l *testChain, depth int) {
	depth = min(depth, len(l.blocks)-1)
	gone := slices.Clone(l.blocks[len(l.blocks)-depth:])
	l.drop(depth)
	for _, b := range gone {
		var txs [][]told
		for _, e := range b.events {
			if o.IntN(4) > 0 {
				txs = append(txs, []told{{e.Order, e.Fact}})
			}
		}
		l.mine(txs...)
	}
	l.mine()
}

// TestTheLogLeadsToTheIndex lets a consumer apply the log to an empty table while chains, rewritten up to 20 blocks
// deep, are being followed.
func TestTheLogLeadsToTheIndex(t *testing.T) {
	onBoth(t, func(t *testing.T, db *store.DB) {
		t.Parallel()
		o := &orderTraffic{Rand: rand.New(rand.NewPCG(1, 2)), chains: [2]*testChain{newTestChain(1), newTestChain(137)}}
		o.deals = make([]deal, 0, scale(t, 40))
		for _, l := range o.chains {
			l.finality = 25
		}
		x := newIndex(db, map[chain.ID]order.Source{1: o.chains[0], 137: o.chains[1]}, quietly(follow.Options{Chains: evmChains(1, 137), Keep: ever}))
		h, l := newHeld(), x.Ledger()
		for depth := 1; len(o.deals) < cap(o.deals) || len(o.open) > 0; depth = depth%20 + 1 {
			for range 10 {
				o.mine(o.chains[o.IntN(2)], max(1, cap(o.deals)/50))
			}
			var following sync.WaitGroup
			for _, f := range x.Followers {
				following.Go(func() { catchUp(t, f) })
			}
			following.Go(func() { h.read(t, l) })
			following.Wait()
			o.rewrite(o.chains[o.IntN(2)], depth)
		}
		for _, l := range o.chains {
			l.mineEmpty(60)
		}
		followAll(t, x)
		h.read(t, l)
		h.checkIndex(t, l)
		if h.counts[order.Retracted] == 0 || h.counts[order.Final] == 0 {
			t.Errorf("steps of events: %v, want some of each", h.counts)
		}
		for of, step := range h.events {
			if step == order.Happened {
				t.Fatalf("event in block %s of chain %d is neither final nor retracted", of.block, of.chain)
			}
		}
		t.Logf("%d orders, steps of events: %v", len(h.orders), h.counts)
	})
}

// TestTheLogTellsLateBlocks begins with the index as a chain's history left it, too old for the log. It withdraws some of
// that history, replaces it, and reads blocks that were mined long ago.
func TestTheLogTellsLateBlocks(t *testing.T) {
	onBoth(t, func(t *testing.T, db *store.DB) {
		o := &orderTraffic{Rand: rand.New(rand.NewPCG(1, 2)), chains: [2]*testChain{newTestChain(1), newTestChain(137)}, deals: make([]deal, 0, 40)}
		x := newIndex(db, map[chain.ID]order.Source{1: o.chains[0], 137: o.chains[1]}, quietly(follow.Options{Chains: evmChains(1, 137), Keep: time.Hour}))
		for range 20 {
			o.mine(o.chains[0], 1)
			o.mine(o.chains[1], 1)
		}
		followAll(t, x)
		h, l := newHeld(), x.Ledger()
		if list := must.Get(l.Entries(t.Context(), 0, order.ID{}, 1))(t); len(list) > 0 {
			t.Fatalf("the log tells history: %+v", list)
		}
		for id, events := range must.Get(ledger.EventsOfAll(t.Context(), l, allOrders(t, l)))(t) {
			of, _ := order.Fold(events)
			for _, e := range events {
				h.orders[id] = order.EntryOf(order.Happened, e, of, of)
				h.events[heldEvent{e.At.Chain, e.At.BlockHash, e.At.LogIndex}] = order.Happened
			}
		}
		came := must.Get(audit.Of(x.Chains).Withdraw(t.Context(), 1, 3))(t)
		h.read(t, l)
		h.checkIndex(t, l)
		o.rewrite(o.chains[0], len(o.chains[0].blocks)-3)
		o.mine(o.chains[1], 1)
		followAll(t, x)
		h.read(t, l)
		h.checkIndex(t, l)
		if came.Orders == 0 || h.counts[order.Final] < came.Orders || h.counts[order.Happened] == 0 {
			t.Errorf("%d orders changed, steps of events: %v", came.Orders, h.counts)
		}
	})
}

func allOrders(t *testing.T, l ledger.Ledger) (ids []order.ID) {
	t.Helper()
	must.Do(t, l.ForEachRow(t.Context(), func(rows *sql.Rows) error {
		var id order.ID
		err := rows.Scan(store.HashColumn(&id))
		ids = append(ids, id)
		return err
	}, `SELECT id FROM orders`))
	return ids
}

// TestTheLogExpires deletes old entries, remembers up to which position, and never reuses one.
func TestTheLogExpires(t *testing.T) {
	onBoth(t, func(t *testing.T, db *store.DB) {
		now := uint64(time.Now().Unix())
		write := func(keep time.Duration, number byte, at uint64) {
			d := newDeal(number, 1, 137).created()
			must.Get(ledger.Ledger{DB: db, Keep: keep}.Write(t.Context(), store.Lease{}, func(tx *ledger.Tx) error {
				tx.Add(order.Event{Order: d.id, Fact: d.fact, At: order.At{Chain: 1, Block: uint64(number), Time: at}})
				return nil
			}))(t)
		}
		l := ledger.Ledger{DB: db, Keep: time.Hour}
		write(time.Hour, 1, now)
		write(time.Hour, 2, now-7200) // history
		write(0, 3, now)
		list, err := l.Entries(t.Context(), 0, order.ID{}, 10)
		if err != nil || len(list) != 1 || list[0].Order != (order.ID{31: 1}) {
			t.Fatalf("the log has %+v, %v, want the new order alone", list, err)
		}
		first := list[0].Position
		l.Keep = -time.Minute
		must.Do(t, l.Expire(t.Context()))
		if newest, deleted, err := l.LogEnds(t.Context()); newest != first || deleted != first || err != nil {
			t.Errorf("ends %d, %d, %v, want %d both", newest, deleted, err, first)
		}
		write(time.Hour, 4, now)
		if list, _ := l.Entries(t.Context(), 0, order.ID{}, 10); len(list) != 1 || list[0].Position <= first {
			t.Errorf("after all were deleted: %+v, want a greater position than %d", list, first)
		}
	})
}
