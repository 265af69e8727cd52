package query

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"time"

	"crossgate/chain"
	"crossgate/order"
)

// clockwork is a chain whose blocks follow from their numbers and come with time, so that several processes
// see the same one. Orders are created on chain 1, a block each, and delivered on chain 137.
type clockwork struct {
	id     chain.ID
	start  time.Time
	first  uint64 // newest block at the start
	last   uint64 // no more blocks come after it
	every  time.Duration
	events atomic.Int64 // calls of Events
	silent uint64       // of the events of earlier blocks than this nothing is said
}

// startOfTime is long enough ago for all blocks to be there.
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

func clockworkDeal(number uint64) deal {
	d := newDeal(byte(number), 1, 137)
	d.id = sha256.Sum256(binary.BigEndian.AppendUint64(nil, number))
	d.terms.Nonce = number
	return d
}

// clockworkTakers share what is delivered.
var clockworkTakers = []chain.Address{taker, chain.NewAddress([]byte("another authority 20")), chain.NewAddress([]byte("solana authority of 32 bytes ..."))}

func clockworkFulfilled(number uint64) told {
	t := clockworkDeal(number).fulfilled()
	fact := t.fact.(order.Fulfilled)
	fact.UnlockAuthority = clockworkTakers[number%uint64(len(clockworkTakers))]
	t.fact = fact
	return t
}

// clockworks are both chains, begun at start.
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
