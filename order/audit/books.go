// Package audit implements commands that compare the ledger with the chains, correct it, read history into it and
// withdraw blocks.
package audit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/follow"
	"crossgate/order/ledger"
	"crossgate/store"
)

// Books are a ledger and the chains that it is read from, for commands that check, correct and extend it. Gateways may
// follow the chains meanwhile.
type Books struct {
	Ledger  ledger.Ledger
	Readers []*follow.Reader
}

// Of returns books that read chains independently of their followers.
func Of(c *follow.Chains) *Books { return &Books{c.Ledger(), c.Readers()} }

// of returns the reader of one chain, or all readers for zero.
func (b *Books) of(id chain.ID) []*follow.Reader {
	if id == 0 {
		return b.Readers
	}
	return slices.DeleteFunc(slices.Clone(b.Readers), func(r *follow.Reader) bool { return r.ID != id })
}

// learnAnchors makes the endpoints of all chains prove that they have the newest anchors.
func (b *Books) learnAnchors(ctx context.Context) error {
	for _, r := range b.Readers {
		if err := r.LearnAnchor(ctx); err != nil {
			return err
		}
	}
	return nil
}

// each calls do concurrently for every element of a list, and returns the results in order.
func each[S, T any](list []S, do func(S) T) []T {
	results := make([]T, len(list))
	var working sync.WaitGroup
	for i, one := range list {
		working.Go(func() { results[i] = do(one) })
	}
	working.Wait()
	return results
}

var errBusy = errors.New("another process does the same on this chain: wait for its end, or stop it")

// underLease runs a job on a chain while this process holds its lease.
func underLease(ctx context.Context, r *follow.Reader, job string, do func(working context.Context, held store.Lease) error) error {
	held, taken, err := r.Ledger.Claim(ctx, job+" "+r.ID.String())
	if err != nil {
		return err
	}
	if !taken {
		return errBusy
	}
	working, release := r.Ledger.Hold(ctx, held)
	return errors.Join(do(working, held), release())
}

// heard is a chain's answer, or the error in its place.
type heard[T any] struct {
	got T
	err error
}

// Status is what the store has of one chain.
type Status struct {
	Chain chain.ID
	order.Lag
	From   order.BlockTime // where the chain's history begins in the store; block 0 if the store has all of it
	Known  bool            // false if nothing was read
	Proven uint64          // newest block that, from From on, a second reading confirms; 0: none or unknown
	Orders uint64          // created on this chain
	Locked uint64          // of these, delivered but not yet paid for
	Err    error           // why the head is unknown

	Quarantined []ledger.QuarantinedBlock // ascending
}

// Status returns what the store has of every chain, and asks each chain for its newest block.
func (b *Books) Status(ctx context.Context) ([]Status, error) {
	counted, err := b.Ledger.CountOrders(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]Status, len(b.Readers))
	for i, r := range b.Readers {
		position, known, err := b.Ledger.Checkpoint(ctx, r.ID)
		if err != nil {
			return nil, err
		}
		all[i] = Status{Chain: r.ID, From: order.BlockTime{Number: position.First, Time: position.FirstTime}, Known: known, Proven: position.ProvenTo()}
		all[i].Indexed, all[i].IndexedTime = position.Block, position.BlockTime
		if all[i].Quarantined, err = b.Ledger.Quarantined(ctx, r.ID, ledger.Range{From: 0, To: math.MaxInt64}); err != nil {
			return nil, err
		}
		for _, c := range counted {
			if c.Give == r.ID {
				all[i].Orders, all[i].Locked = all[i].Orders+c.Orders, all[i].Locked+c.Locked
			}
		}
	}
	const headLimit = 10 * time.Second
	limited, cancel := context.WithTimeout(ctx, headLimit)
	defer cancel()
	heads := each(b.Readers, func(r *follow.Reader) (head heard[order.Head]) {
		head.got, head.err = r.Source.Head(limited)
		return head
	})
	for i, head := range heads {
		all[i].Head, all[i].Err = head.got.Latest.Number, head.err
		if head.err == nil && all[i].Indexed >= all[i].Head {
			all[i].Level = time.Now()
		}
	}
	return all, nil
}

// Withdrawal is the result of an operator's withdrawal of blocks.
type Withdrawal struct {
	Was    uint64 // newest block read before
	Orders int    // orders changed
}

// Withdraw withdraws a chain's blocks from a number on, with their events and anchors: an operator has decided that
// they do not belong to the chain. Gateways resume reading there, from whatever endpoints they have.
func (b *Books) Withdraw(ctx context.Context, id chain.ID, from uint64) (Withdrawal, error) {
	readers := b.of(id)
	if id == 0 || len(readers) == 0 {
		return Withdrawal{}, fmt.Errorf("chain %d is not configured", id)
	}
	position, known, err := b.Ledger.Checkpoint(ctx, id)
	switch {
	case err != nil:
		return Withdrawal{}, err
	case !known || from <= position.First || from > position.Block:
		return Withdrawal{}, fmt.Errorf("chain %d: blocks %d to %d can be withdrawn, not block %d and later",
			id, position.First+1, position.Block, from)
	}
	_, changes, err := readers[0].GoBack(ctx, position, from-1)
	return Withdrawal{Was: position.Block, Orders: len(changes)}, err
}
