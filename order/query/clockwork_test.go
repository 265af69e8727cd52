package query

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/audit"
	"crossgate/order/follow"
	"crossgate/order/ledger"
)

// clockwork is a chain whose blocks follow from their numbers and appear over time, so that several processes see the
// same chain. Orders are created on chain 1, one per block, and delivered on chain 137.
type clockwork struct {
	id     chain.ID
	start  time.Time
	first  uint64 // newest block at the start
	last   uint64 // final newest block
	every  time.Duration
	events atomic.Int64 // calls of Events
	silent uint64       // blocks before this one have their events withheld
}

// startOfTime lies far enough in the past for all blocks to exist.
var startOfTime = time.Unix(0, 0)

func (c *clockwork) Head(ctx context.Context) (order.Head, error) {
	const finality = 5
	number := min(c.last, c.first+uint64(max(time.Since(c.start)/c.every, 0)))
	return order.Head{Latest: c.block(number), Finalized: number - min(number, finality)}, ctx.Err()
}

func (c *clockwork) Block(ctx context.Context, number uint64) (order.Block, error) {
	return c.block(number), ctx.Err()
}

func (c *clockwork) block(number uint64) order.Block {
	b := order.Block{Number: number, Hash: c.hash("block", number), Time: 1_000_000 + number}
	if number > 0 {
		b.Parent = c.hash("block", number-1)
	}
	return b
}

func (c *clockwork) hash(what string, number uint64) chain.Hash {
	return sha256.Sum256(binary.BigEndian.AppendUint64(fmt.Appendf(nil, "%s of chain %d", what, c.id), number))
}

func (c *clockwork) Events(ctx context.Context, from, to uint64) ([]order.Event, error) {
	c.events.Add(1)
	if from < c.silent {
		<-ctx.Done()
	}
	var events []order.Event
	for number := from; number <= to; number++ {
		events = append(events, c.in(number)...)
	}
	return events, ctx.Err()
}

func (c *clockwork) in(number uint64) []order.Event {
	var facts []told
	if c.id == 1 {
		facts = append(facts, clockworkDeal(number).created())
		if number >= 20 && number%3 == 0 {
			facts = append(facts, clockworkDeal(number-20).claimedUnlock())
		}
	} else {
		if number >= 5 && number%7 != 0 {
			facts = append(facts, clockworkFulfilled(number-5))
		}
		if number >= 10 && number%2 == 0 {
			facts = append(facts, clockworkDeal(number-10).sentUnlock())
		}
	}
	block := c.block(number)
	events := make([]order.Event, len(facts))
	for i, t := range facts {
		hash := c.hash("tx", number)
		events[i] = order.Event{Order: t.id, Fact: t.fact, At: order.At{
			Chain: c.id, Tx: chain.NewTxHash(hash[:]), Block: number, BlockHash: block.Hash, Time: block.Time,
			Initiator: chain.NewAddress([]byte("initiator")), LogIndex: uint(i),
		}}
	}
	return events
}

func (c *clockwork) EventsIn(ctx context.Context, tx chain.TxHash) (order.Evidence, error) {
	for number := range c.last + 1 {
		if hash := c.hash("tx", number); chain.NewTxHash(hash[:]) == tx {
			return order.Evidence{Events: c.in(number)}, ctx.Err()
		}
	}
	return order.Evidence{}, order.ErrNotFound
}

func (c *clockwork) Verify(ctx context.Context, from, to uint64, first []order.Event) (order.Evidence, error) {
	return order.Evidence{Events: first, Standing: order.Intrinsic}, ctx.Err()
}

func (c *clockwork) Attest(ctx context.Context, events []order.Event) (order.Evidence, error) {
	return order.Evidence{Events: events, Standing: order.Intrinsic}, ctx.Err()
}

func clockworkDeal(number uint64) deal {
	d := newDeal(byte(number), 1, 137)
	d.id = sha256.Sum256(binary.BigEndian.AppendUint64(nil, number))
	d.terms.Nonce = number
	return d
}

// clockworkTakers share the deliveries.
var clockworkTakers = []chain.Address{taker, chain.NewAddress([]byte("another authority 20")), chain.NewAddress([]byte("solana authority of 32 bytes ..."))}

func clockworkFulfilled(number uint64) told {
	t := clockworkDeal(number).fulfilled()
	fact := t.fact.(order.Fulfilled)
	fact.UnlockAuthority = clockworkTakers[number%uint64(len(clockworkTakers))]
	t.fact = fact
	return t
}

// clockworks returns both chains, started at start.
func clockworks(start time.Time, first, last uint64, every time.Duration) map[chain.ID]*clockwork {
	chains := map[chain.ID]*clockwork{}
	for _, id := range []chain.ID{1, 137} {
		chains[id] = &clockwork{id: id, start: start, first: first, last: last, every: every}
	}
	return chains
}

func sourcesOf(chains map[chain.ID]*clockwork) map[chain.ID]order.Source {
	sources := map[chain.ID]order.Source{}
	for id, c := range chains {
		sources[id] = c
	}
	return sources
}

// kills returns the number of kills in a test: 2, or CROSSGATE_KILLS (make soak: 100).
func kills(t *testing.T) int {
	t.Helper()
	text := os.Getenv("CROSSGATE_KILLS")
	if text == "" {
		return 2
	}
	count, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("CROSSGATE_KILLS: %v", err)
	}
	return count
}

// TestKilledIndexLosesNothing kills a process that follows and backfills two chains, each time after a different number
// of ranges and in the middle of the next ones: the chains withhold enough to keep it from finishing. The resulting
// store, once finished, answers like one that was never interrupted.
func TestKilledIndexLosesNothing(t *testing.T) {
	t.Parallel()
	const each = 200 // more blocks of history that each process sees than the one before: 10 ranges of 2 chains
	count := kills(t)
	p := plan{
		Store: t.TempDir() + "/orders.db", Start: time.Now(), Lookback: 64, Every: time.Millisecond,
		First: uint64(each * (count + 1)), Last: uint64(each*(count+1) + 20*count),
	}
	for i := range count {
		p.Silent = p.First - p.Lookback - uint64(each*(i+1))
		c := startChild(t, p)
		for range rand.IntN(20) { // each has that many ranges to store
			c.await(t, hasStored)
		}
		c.kill()
	}
	store := openStoreAt(t, p.Store)
	chains, read := p.chains(), 0
	for id := range chains {
		position, known, err := ledger.Ledger{DB: store}.Checkpoint(t.Context(), id)
		if err != nil || known && position.First < p.Silent {
			t.Fatalf("after %d kills %+v of %v was read, %v; want history down to block %d at most", count, position, id, err, p.Silent)
		}
		if known {
			read++
			t.Logf("killed %d times; of %d blocks of %v %d to %d were read by then", count, p.Last, id, position.First, position.Block)
		}
	}
	if read == 0 {
		t.Fatalf("after %d kills the ranges that were stored are lost", count)
	}
	p.Start = time.Time{} // so that all blocks exist
	chains = p.chains()
	x := p.index(store, chains)
	followAll(t, x)
	must.Do(t, audit.Of(x.Chains).Backfill(t.Context(), func(audit.Progress) {}))
	straight := openStore(t)
	followAll(t, newIndex(straight, sourcesOf(chains), quietly(follow.Options{Chains: evmChains(1, 137)})))
	if got, want := answersOf(t, store, chains), answersOf(t, straight, chains); got != want {
		t.Errorf("after %d kills the store answers otherwise than an uninterrupted one", count)
	}
}
