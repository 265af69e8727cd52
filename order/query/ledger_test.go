package query

import (
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/follow"
	"crossgate/store"
)

// testChain is a small in-memory chain with events of orders, whose newest blocks can be dropped.
type testChain struct {
	gap *order.PartialError // blocks that History cannot search; nil: none

	mu       sync.Mutex
	id       chain.ID
	blocks   []sealed
	finality uint64                // distance of the newest final block from the head
	forks    uint64                // number of forks, part of every hash
	dropped  map[chain.Hash]uint64 // dropped blocks, with the number of forks at that time

	origin      uint64             // first block with contracts
	unreachable error              // returned by every call
	unclear     map[order.ID]error // why the contracts' states of orders cannot be told
	maxRange    uint64             // most blocks per call of Events; 0: unlimited
	asked       map[string]int
}

// sealed is a block with its transactions and events.
type sealed struct {
	order.Block
	txs    []chain.TxHash
	events []order.Event
}

var (
	_ order.Source = (*testChain)(nil)
	_ order.Reader = (*testChain)(nil)
)

// newTestChain returns a chain with a block 0.
func newTestChain(id chain.ID) *testChain {
	l := &testChain{id: id, finality: 5, asked: map[string]int{}, dropped: map[chain.Hash]uint64{}}
	l.mine()
	return l
}

// mine adds a block with one transaction per list of facts, and returns their hashes.
func (l *testChain) mine(txs ...[]told) []chain.TxHash {
	l.mu.Lock()
	defer l.mu.Unlock()
	number := uint64(len(l.blocks))
	b := sealed{Block: order.Block{Number: number, Hash: l.hash("block", number), Time: 1_000_000 + 10*number}}
	if number > 0 {
		b.Parent = l.blocks[number-1].Hash
	}
	for i, facts := range txs {
		hash := l.hash("tx", number<<16|uint64(i))
		tx := chain.NewTxHash(hash[:])
		b.txs = append(b.txs, tx)
		for _, t := range facts {
			b.events = append(b.events, order.Event{Order: t.id, Fact: t.fact, At: order.At{
				Chain: l.id, Tx: tx, Block: number, BlockHash: b.Hash, Time: b.Time,
				Initiator: chain.NewAddress([]byte("initiator")), LogIndex: uint(len(b.events)),
			}})
		}
	}
	l.blocks = append(l.blocks, b)
	return b.txs
}

// mineEmpty adds count empty blocks.
func (l *testChain) mineEmpty(count int) {
	for range count {
		l.mine()
	}
}

// drop removes the newest blocks, as a reorg does before it adds others.
func (l *testChain) drop(depth int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forks++
	for _, b := range l.blocks[len(l.blocks)-depth:] {
		l.dropped[b.Hash] = l.forks
	}
	l.blocks = l.blocks[:len(l.blocks)-depth]
}

// isDropped reports whether a step of an order is in a dropped block.
func (l *testChain) isDropped(o *order.Order) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(o.Steps(), func(at order.At) bool { return l.dropped[at.BlockHash] > 0 })
}

func (l *testChain) hash(what string, number uint64) chain.Hash {
	var h chain.Hash
	copy(h[:], what)
	binary.BigEndian.PutUint64(h[8:], uint64(l.id))
	binary.BigEndian.PutUint64(h[16:], l.forks+1)
	binary.BigEndian.PutUint64(h[24:], number)
	return h
}

func (l *testChain) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unreachable = err
}

func (l *testChain) times(call string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.asked[call]
}

// enter begins a call; the caller must unlock.
func (l *testChain) enter(ctx context.Context, call string) error {
	l.mu.Lock()
	l.asked[call]++
	if err := ctx.Err(); err != nil {
		return err
	}
	return l.unreachable
}

func (l *testChain) Head(ctx context.Context) (order.Head, error) {
	defer l.mu.Unlock()
	if err := l.enter(ctx, "Head"); err != nil {
		return order.Head{}, err
	}
	newest := l.blocks[len(l.blocks)-1].Block
	return order.Head{Latest: newest, Finalized: newest.Number - min(newest.Number, l.finality)}, nil
}

func (l *testChain) Block(ctx context.Context, number uint64) (order.Block, error) {
	defer l.mu.Unlock()
	if err := l.enter(ctx, "Block"); err != nil {
		return order.Block{}, err
	}
	if number >= uint64(len(l.blocks)) {
		return order.Block{}, fmt.Errorf("block %d: %w", number, order.ErrNotFound)
	}
	return l.blocks[number].Block, nil
}

func (l *testChain) Events(ctx context.Context, from, to uint64) ([]order.Event, error) {
	defer l.mu.Unlock()
	if err := l.enter(ctx, "Events"); err != nil {
		return nil, err
	}
	if l.maxRange > 0 && to-from+1 > l.maxRange {
		return nil, fmt.Errorf("range exceeds %d blocks", l.maxRange)
	}
	var events []order.Event
	end := uint64(len(l.blocks))
	for _, b := range l.blocks[min(from, end):min(to+1, end)] {
		events = append(events, b.events...)
	}
	return events, nil
}

func (l *testChain) EventsIn(ctx context.Context, tx chain.TxHash) (order.Evidence, error) {
	defer l.mu.Unlock()
	if err := l.enter(ctx, "EventsIn"); err != nil {
		return order.Evidence{}, err
	}
	for _, b := range l.blocks {
		if slices.Contains(b.txs, tx) {
			events := slices.DeleteFunc(slices.Clone(b.events), func(e order.Event) bool { return e.At.Tx != tx })
			return order.Evidence{Events: events, Standing: order.Corroborated}, nil
		}
	}
	return order.Evidence{}, order.ErrNotFound
}

func (l *testChain) History(ctx context.Context, id order.ID, side order.Side, since uint64) (order.Evidence, error) {
	defer l.mu.Unlock()
	if err := l.enter(ctx, "History"); err != nil {
		return order.Evidence{}, err
	}
	var events []order.Event
	for _, b := range l.blocks {
		for _, e := range b.events {
			if e.Order == id && order.SideOf(e.Fact) == side && e.At.Time >= since {
				events = append(events, e)
			}
		}
	}
	read := order.Evidence{Events: events, Standing: order.Corroborated}
	if l.gap != nil {
		return read, l.gap
	}
	return read, nil
}

func (l *testChain) Verify(ctx context.Context, from, to uint64, _ []order.Event) (order.Evidence, error) {
	events, err := l.Events(ctx, from, to)
	return order.Evidence{Events: events, Standing: order.Intrinsic}, err
}

func (l *testChain) Attest(ctx context.Context, events []order.Event) (order.Evidence, error) {
	return order.Evidence{Events: events, Standing: order.Intrinsic}, ctx.Err()
}

// told is a fact about an order.
type told struct {
	id   order.ID
	fact order.Fact
}

var taker = chain.NewAddress([]byte("unlock authority 20b"))

// deal is an order of the tests, with the events that its chains can have.
type deal struct {
	id    order.ID
	terms order.Terms
}

func newDeal(number byte, give, take chain.ID) deal {
	return deal{order.ID{31: number}, order.Terms{
		Nonce: uint64(number),
		Maker: chain.NewAddress([]byte("maker")),
		Give:  order.Offer{Chain: give, Token: chain.NewAddress([]byte("give token")), Amount: chain.NewAmount(1000)},
		Take:  order.Offer{Chain: take, Token: chain.NewAddress([]byte("take token")), Amount: chain.NewAmount(900)},
	}}
}

func (d deal) created() told { return told{d.id, order.Created{Terms: d.terms, Metadata: []byte{1}}} }

func (d deal) fulfilled() told {
	actual := d.terms.Take.Amount
	return told{d.id, order.Fulfilled{Terms: d.terms, ActualAmount: &actual, Taker: taker, UnlockAuthority: taker}}
}

func (d deal) sentUnlock() told {
	return told{d.id, order.Sent{Kind: order.Unlock, Beneficiary: taker, Submission: chain.Hash{9}}}
}

func (d deal) claimedUnlock() told {
	return told{d.id, order.Claimed{Kind: order.Unlock, Beneficiary: taker, Paid: d.terms.Give.Amount, Submission: chain.Hash{9}}}
}

// evmChains returns a registry with EVM chains of the given IDs.
func evmChains(ids ...chain.ID) chain.Registry {
	chains := make([]chain.Chain, len(ids))
	for i, id := range ids {
		chains[i] = chain.Chain{ID: id, Family: chain.EVM}
	}
	return chain.NewRegistry(chains...)
}

// observed is an Observer made of functions, any of which may be nil.
type observed struct {
	changed func([]order.Change)
	branch  func(chain.ID)
}

func (o observed) OrdersChanged(changes []order.Change) {
	if o.changed != nil {
		o.changed(changes)
	}
}

func (o observed) BranchChanged(id chain.ID) {
	if o.branch != nil {
		o.branch(id)
	}
}

func (observed) OrderSeen(context.Context, *order.Order) {}

// quietly silences the log, since tests provoke many messages.
func quietly(o follow.Options) follow.Options {
	o.Logger = slog.New(slog.DiscardHandler)
	return o
}

// newFollower returns a follower of one chain.
func newFollower(db *store.DB, id chain.ID, source order.Source, o follow.Options) *follow.Follower {
	return follow.New(db, map[chain.ID]order.Source{id: source}, o).Followers[0]
}

// newIndex returns an index of sources.
func newIndex(db *store.DB, sources map[chain.ID]order.Source, o follow.Options) *Index {
	return New(follow.New(db, sources, o), Options{})
}

func openStore(t testing.TB) *store.DB {
	t.Helper()
	return openStoreAt(t, t.TempDir()+"/orders.db")
}

// execute executes a statement.
func execute(t testing.TB, db *store.DB, statement string) {
	t.Helper()
	must.Do(t, db.Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.ExecContext(t.Context(), statement)
		return err
	}))
}

func openStoreAt(t testing.TB, path string) *store.DB {
	t.Helper()
	store := must.Get(store.OpenSQLite(t.Context(), path))(t)
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

// lagOf returns the lag of one chain.
func lagOf(x *Index, id chain.ID) order.Lag { return x.Basis().Of(id).Lag }
