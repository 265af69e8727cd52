package follow

import (
	"context"
	"fmt"
	"sync"

	"crossgate/order"
	"crossgate/order/ledger"
	"crossgate/order/proof"
)

// Width is how many blocks are read at a time: fewer after a failure or if they hold very many events, more again after
// each success.
type Width struct{ Now, Most uint64 }

// NewWidth returns the maximum width.
func NewWidth(most uint64) Width { return Width{most, most} }

// Failed halves the width.
func (w *Width) Failed() { w.Now = max(1, w.Now/2) }

// Held adjusts the width to the number of events that a range of this width held.
func (w *Width) Held(events int) {
	if events > ledger.EventsAtOnce {
		w.Failed()
		return
	}
	w.Now = min(2*w.Now, w.Most)
}

// ReadOn reads and stores the blocks after a fork up to the head. The fork is the checkpoint's own block unless a reorg
// has dropped blocks: then the first range extends as far as they did, so that one transaction withdraws them and
// restores the surviving events. A range ends at the newest final block, so that there is always one to return to.
func (f *Follower) ReadOn(ctx context.Context, position ledger.Checkpoint, fork uint64, head order.Head) (ledger.Checkpoint, error) {
	dropped := min(position.Block, head.Latest.Number) - min(fork, head.Latest.Number)
	if fork < position.Block && (dropped == 0 || dropped > f.width.Now) {
		back, _, err := f.GoBack(ctx, position, fork)
		if err != nil {
			return position, err
		}
		position = back.Checkpoint
		if err := f.stored(ctx, back); err != nil {
			return position, err
		}
		f.accept(head)
		dropped = 0
	}
	planned := fork
	err := InSequence(ctx, f.ReadAhead,
		func() (ledger.Range, bool) {
			if planned >= head.Latest.Number {
				return ledger.Range{}, false
			}
			r := ledger.Range{From: planned + 1, To: min(planned+max(f.width.Now, dropped), head.Latest.Number)}
			if planned < head.Finalized && dropped == 0 {
				r.To = min(r.To, head.Finalized)
			}
			planned, dropped = r.To, 0
			return r, true
		},
		func(ctx context.Context, r ledger.Range) (ledger.Contents, error) { return f.read(ctx, r, head) },
		func(got ledger.Contents, err error) error {
			if err != nil {
				f.width.Failed()
				return err
			}
			f.width.Held(len(got.Events))
			next := position
			next.Block, next.BlockTime = got.To, got.End.Time
			if got.From <= position.Block {
				next.Reorgs++
				next.ProvenEnd = min(next.ProvenEnd, got.From)
				next.Settled = min(next.Settled, fork)
			}
			next.Settled = max(next.Settled, min(proof.SettledAt(head), next.Block)) // the head may be a lie
			err = f.apply(ctx, ledger.Advance{
				From: got.From, Events: got.Events, Quarantined: got.Quarantined,
				Blocks: droppable(got.Events, ledger.Block{Number: got.End.Number, Hash: got.End.Hash}, next.Settled),
				Before: position, Checkpoint: next,
			})
			if err == nil {
				position = next
				f.TookWord(got.Range, head)
			}
			return err
		})
	return position, err
}

// read returns the events of a range, and its last block.
func (f *Follower) read(ctx context.Context, r ledger.Range, head order.Head) (got ledger.Contents, err error) {
	ctx, end := proof.Span(ctx, "index.follow", f.ID, r)
	defer func() { end(err) }()
	events, quarantined, err := f.Events(ctx, r, f.Source.Events)
	if err != nil {
		return ledger.Contents{}, fmt.Errorf("read events of blocks %d to %d: %w", r.From, r.To, err)
	}
	// Read after the events: an endpoint that does not know the last block has not returned all events, and a reorg in
	// between shows in its hash.
	last, err := f.Source.Block(ctx, r.To)
	if err != nil {
		return ledger.Contents{}, fmt.Errorf("read block %d: %w", r.To, err)
	}
	if r.To == head.Latest.Number && last.Hash != head.Latest.Hash {
		return ledger.Contents{}, fmt.Errorf("block %d was replaced while its events were read", r.To)
	}
	return ledger.Contents{Range: r, Events: events, End: last, Quarantined: quarantined}, nil
}

// InSequence reads the ranges that next plans and passes the results to store in order. One range is always being read;
// others are read ahead, one for each free slot of the semaphore readAhead. A range keeps its slot until stored, so the
// semaphore also bounds memory if blocks are read faster than stored. InSequence stops at the first error of store and
// returns it once all readers have ended.
func InSequence(
	ctx context.Context, readAhead chan struct{}, next func() (ledger.Range, bool),
	read func(context.Context, ledger.Range) (ledger.Contents, error), store func(ledger.Contents, error) error,
) error {
	type result struct {
		got ledger.Contents
		err error
	}
	type pending struct {
		result  chan result
		release func() // frees its slot
	}
	var queue []pending
	defer func() {
		for _, p := range queue {
			p.release()
		}
	}()
	ctx, cancel := context.WithCancel(ctx)
	var readers sync.WaitGroup
	defer readers.Wait()
	defer cancel()
	begin := func(release func()) bool {
		r, more := next()
		if !more {
			release()
			return false
		}
		done := make(chan result, 1)
		queue = append(queue, pending{done, release})
		readers.Go(func() {
			got, err := read(ctx, r)
			done <- result{got, err}
		})
		return true
	}
	for {
		if len(queue) == 0 && !begin(func() {}) {
			return nil
		}
		for tryAcquire(readAhead) && begin(func() { <-readAhead }) {
		}
		first := <-queue[0].result
		err := store(first.got, first.err)
		queue[0].release()
		queue = queue[1:]
		if err != nil {
			return err
		}
	}
}

func tryAcquire(semaphore chan struct{}) bool {
	select {
	case semaphore <- struct{}{}:
		return true
	default:
		return false
	}
}
