package query

import (
	"context"
	"encoding/binary"
	"slices"
	"sync"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/follow"
	"crossgate/store"
)

// TestReorgsWhileServing drops 1 to 20 blocks at a time while the chain is followed and orders are asked for.
// An answer never holds an event of a block that the newest head the follower has read does not stand on.
func TestReorgsWhileServing(t *testing.T) {
	for name, store := range map[string]*store.DB{"SQLite": openStore(t), "PostgreSQL": openPostgres(t)} {
		t.Run(name, func(t *testing.T) { testReorgsWhileServing(t, store) })
	}
}

func testReorgsWhileServing(t *testing.T, store *store.DB) {
	ledger := newTestChain(1)
	ledger.finality = 30
	x := newIndex(store, map[chain.ID]order.Source{1: ledger}, quietly(follow.Options{
		Chains: evmChains(1), Pace: follow.Pace{Asked: time.Millisecond},
	}))
	runIndex(t, x)
	s := served{ledger: ledger, index: x, blocks: map[order.ID][]chain.Hash{}}
	var readers sync.WaitGroup
	stop := make(chan struct{})
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					s.ask(t)
					s.askLocked(t)
				}
			}
		})
	}
	for depth := 1; depth <= 20; depth++ {
		s.mine(depth)
		until(t, "level", s.level)
		ledger.drop(depth)
		s.mine(depth + 1)
		until(t, "level after a reorg", s.level)
		if got, want := lockedOrders(t, x), s.locked(); got != want {
			t.Errorf("after a reorg of %d blocks %d orders are locked, want %d", depth, got, want)
		}
	}
	close(stop)
	readers.Wait()
	if s.answers == 0 {
		t.Error("nothing was answered meanwhile")
	}
	t.Logf("%d answers while blocks were dropped", s.answers)
}

// served is a chain on which orders are created and delivered, and those who ask for them.
type served struct {
	ledger *testChain
	index  *Index

	mu        sync.Mutex
	made      uint16
	creations []chain.TxHash
	blocks    map[order.ID][]chain.Hash // that ever held the order
	answers   int
}

// mine creates an order in each of some blocks and delivers it in the same one. Every second order is one
// that was there before, so that after a reorg it stands in another transaction.
func (s *served) mine(blocks int) {
	for range blocks {
		s.mu.Lock()
		s.made++
		d := newDeal(0, 1, 1)
		binary.BigEndian.PutUint16(d.id[:], s.made/2)
		s.mu.Unlock()
		created := s.ledger.mine([]told{d.created(), d.fulfilled()})
		block, _ := s.ledger.Block(context.Background(), uint64(len(s.ledger.blocks)-1))
		s.mu.Lock()
		s.blocks[d.id] = append(s.blocks[d.id], block.Hash)
		s.creations = append(s.creations, created...)
		s.mu.Unlock()
	}
}

func (s *served) level() bool {
	head, err := s.ledger.Head(context.Background())
	lag := lagOf(s.index, 1)
	return err == nil && lag.Indexed == head.Latest.Number && isAt(s.index.Followers[0], head.Latest.Hash)
}

// ask asks for one of the newest orders.
func (s *served) ask(t *testing.T) {
	s.mu.Lock()
	s.answers++
	if len(s.creations) == 0 {
		s.mu.Unlock()
		return
	}
	tx := s.creations[len(s.creations)-1-s.answers%min(len(s.creations), 30)]
	s.mu.Unlock()
	read := forksRead(s.index.Followers[0])
	found, _, err := s.index.Find(t.Context(), tx)
	if err != nil {
		return // dropped, and not there again
	}
	for _, o := range found {
		for _, at := range o.Steps() {
			s.ledger.mu.Lock()
			when, gone := s.ledger.dropped[at.BlockHash]
			s.ledger.mu.Unlock()
			if gone && when <= read {
				t.Errorf("order %s has an event of a block that was dropped in fork %d; a head of fork %d had been read", o.ID, when, read)
			}
		}
	}
}

// askLocked asks what is locked. Every order of the answer must be in a block which the head stands on that was read
// before.
func (s *served) askLocked(t *testing.T) {
	read := forksRead(s.index.Followers[0])
	locked, _, err := s.index.Locked(t.Context(), taker)
	if err != nil {
		return // nothing was read yet
	}
	for _, c := range locked {
		for _, id := range c.Tokens[0].Targets[0].Orders {
			if !s.stood(id, read) {
				t.Errorf("order %s is told to be locked, whose blocks were all dropped in forks up to %d", id, read)
			}
		}
	}
}

// stood reports whether an order is in a block of the chain, or was in one that was not dropped before a later fork.
func (s *served) stood(id order.ID, forks uint64) bool {
	s.mu.Lock()
	blocks := s.blocks[id]
	s.mu.Unlock()
	s.ledger.mu.Lock()
	defer s.ledger.mu.Unlock()
	holds := func(e order.Event) bool { return e.Order == id }
	return slices.ContainsFunc(s.ledger.blocks, func(b sealed) bool { return slices.ContainsFunc(b.events, holds) }) ||
		slices.ContainsFunc(blocks, func(hash chain.Hash) bool { return s.ledger.dropped[hash] > forks })
}

// locked counts what the chain as it is keeps locked.
func (s *served) locked() int {
	s.ledger.mu.Lock()
	defer s.ledger.mu.Unlock()
	orders := map[order.ID]bool{}
	for _, b := range s.ledger.blocks {
		for _, e := range b.events {
			orders[e.Order] = true
		}
	}
	return len(orders)
}

// forksRead returns how many forks the newest head stands on that the follower has read.
func forksRead(f *follow.Follower) uint64 {
	hash := f.State().Head.Hash
	return max(binary.BigEndian.Uint64(hash[16:24]), 1) - 1
}

func isAt(f *follow.Follower, head chain.Hash) bool {
	s := f.State()
	return s.Head.Hash == head && s.Doubt == nil
}
