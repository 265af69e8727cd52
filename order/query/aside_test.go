package query

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/audit"
	"crossgate/order/follow"
	"crossgate/order/ledger"
	"crossgate/order/proof"
)

// partly is a chain with one transaction that cannot be decoded, and one block that cannot be read a second time.
type partly struct {
	*testChain
	aside, unverifiable uint64 // zero: none
	alone               bool   // no second endpoint answers
}

func (p *partly) Events(ctx context.Context, from, to uint64) ([]order.Event, error) {
	events, err := p.testChain.Events(ctx, from, to)
	if err != nil || p.aside < from || p.aside > to || p.aside == 0 {
		return events, err
	}
	return events, &order.AsideError{Transactions: []order.AsideTransaction{{Block: p.aside, Err: errors.New("of version 7")}}}
}

func (p *partly) Verify(ctx context.Context, from, to uint64, first []order.Event) (order.Evidence, error) {
	if p.unverifiable >= from && p.unverifiable <= to && p.unverifiable != 0 {
		return order.Evidence{}, &order.UnreadableError{Block: p.unverifiable, Err: errors.New("no endpoint has it")}
	}
	if p.alone {
		return order.Evidence{Events: first}, nil
	}
	return order.Evidence{Events: first, Standing: order.Intrinsic}, nil
}

// What cannot be decoded is put aside by transaction, and a block that cannot be read a second time by itself; all else
// is read and proven, and what was put aside is read once that is possible.
func TestWhatIsNotUnderstoodIsPutAside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &partly{testChain: newTestChain(1), aside: 3, unverifiable: 5}
		d, other := newDeal(1, 1, 1), newDeal(2, 1, 1)
		for number := 1; number < 30; number++ {
			switch number {
			case 3:
				p.mine([]told{d.created()})
			case 5:
				p.mine([]told{other.created()})
			default:
				p.mine()
			}
		}
		db := openStore(t)
		x := newIndex(db, map[chain.ID]order.Source{1: p}, quietly(follow.Options{Chains: evmChains(1)}))
		f := x.Followers[0]
		<-time.After(proof.ProvenEvery)
		for range proof.QuarantineAfter {
			_ = f.CatchUp(t.Context()) // a block must fail several times
		}
		catchUp(t, f)
		left := f.Basis()
		if left.Quarantined.Count != 2 || left.Quarantined.First != 3 || left.Proven != 24 || left.Indexed != 29 {
			t.Errorf("basis %+v, want blocks 3 and 5 left out and all else proven", left)
		}
		if stored(t, db, d.id) == nil || stored(t, db, other.id) == nil {
			t.Error("an order beside what was put aside is not known")
		}
		p.aside, p.unverifiable, p.alone = 0, 0, true
		<-time.After(proof.QuarantineRetry)
		catchUp(t, f)
		if left := f.Basis(); left.Quarantined.Count != 2 || left.Single {
			t.Errorf("basis %+v, want both blocks left out of what is proven while one endpoint alone has them", left)
		}
		p.alone = false
		<-time.After(proof.QuarantineRetry)
		catchUp(t, f)
		if left := f.Basis(); left.Quarantined.Count > 0 {
			t.Errorf("%d blocks are left out though all can be read", left.Quarantined.Count)
		}
	})
}

// A backfill puts the same aside, and keeps the rest of the block.
func TestBackfillPutsAsideWhatIsNotUnderstood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &partly{testChain: newTestChain(1), aside: 3, unverifiable: 5}
		d := newDeal(1, 1, 1)
		for number := 1; number < 30; number++ {
			if number == 3 {
				p.mine([]told{d.created()})
			} else {
				p.mine()
			}
		}
		db := openStore(t)
		x := newIndex(db, map[chain.ID]order.Source{1: p}, quietly(follow.Options{Chains: evmChains(1)}))
		must.Do(t, audit.Of(x.Chains).Backfill(t.Context(), func(audit.Progress) {}))
		left, err := x.store.Quarantined(t.Context(), 1, ledger.Range{From: 0, To: 30})
		if err != nil || len(left) != 2 || left[0].Number != 3 || left[1].Number != 5 || stored(t, db, d.id) == nil {
			t.Errorf("left out are %+v, %v; the order beside is known: %t", left, err, stored(t, db, d.id) != nil)
		}
	})
}
