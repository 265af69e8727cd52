// Package audit implements commands that compare the ledger with the chains, correct it, read history into it and
// withdraw blocks.
package audit

import (
	"context"
	"errors"
	"slices"
	"sync"

	"crossgate/chain"
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
