package audit

import (
	"context"
	"slices"
	"sync"

	"crossgate/chain"
	"crossgate/order/follow"
	"crossgate/order/ledger"
)

// Books are a ledger and the chains that it is read from, for commands that check it, correct it and fill it. Gateways
// may follow the chains meanwhile.
type Books struct {
	Ledger  ledger.Ledger
	Readers []*follow.Reader
}

// Of reads chains apart from those that follow them.
func Of(c *follow.Chains) *Books { return &Books{c.Ledger(), c.Readers()} }

// of are the readers of one chain, or of all for zero.
func (b *Books) of(id chain.ID) []*follow.Reader {
	if id == 0 {
		return b.Readers
	}
	return slices.DeleteFunc(slices.Clone(b.Readers), func(r *follow.Reader) bool { return r.ID != id })
}

// learnAnchors has the endpoints of all chains prove that they have the newest anchors.
func (b *Books) learnAnchors(ctx context.Context) error {
	for _, r := range b.Readers {
		if err := r.LearnAnchor(ctx); err != nil {
			return err
		}
	}
	return nil
}

// each does something for every chain at once.
func each[T any](readers []*follow.Reader, do func(*follow.Reader) T) []T {
	all := make([]T, len(readers))
	var working sync.WaitGroup
	for i, r := range readers {
		working.Go(func() { all[i] = do(r) })
	}
	working.Wait()
	return all
}
