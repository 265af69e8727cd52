package index

import (
	"context"
	"fmt"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"crossgate/order"
)

// blocks is a range of them, both ends included.
type blocks struct{ from, to uint64 }

// width is how many blocks are read at once: fewer after a failure or when they hold very many events, and
// more again after each success.
type width struct{ now, most uint64 }

func newWidth(most uint64) width { return width{most, most} }

func (w *width) failed() { w.now = max(1, w.now/2) }

func (w *width) held(events int) {
	const plenty = 5000 // events in one transaction
	if events > plenty {
		w.failed()
		return
	}
	w.now = min(2*w.now, w.most)
}

// rangeEvents is what a range of blocks holds.
type rangeEvents struct {
	blocks
	events []order.Event
	end    order.Block // the range's last block, or its first one where history is read

	quarantined []QuarantinedBlock // left out
}

// readOn reads and stores the blocks after a fork up to the head. The fork is the checkpoint's own block unless a reorg
// has dropped blocks: then the first range reaches as far as they did, so that what still stands is there again in the
// transaction that withdraws the rest. A range ends with the newest final block, so that there is always one to go back
// to.
func (f *follower) readOn(ctx context.Context, position checkpoint, fork uint64, head order.Head) (checkpoint, error) {
	dropped := min(position.block, head.Latest.Number) - min(fork, head.Latest.Number)
	if fork < position.block && (dropped == 0 || dropped > f.width.now) {
		var err error
		if position, err = f.rewind(ctx, position, fork, head); err != nil {
			return position, err
		}
		dropped = 0
	}
	planned := fork
	err := inSequence(ctx, f.readAhead,
		func() (blocks, bool) {
			if planned >= head.Latest.Number {
				return blocks{}, false
			}
			r := blocks{planned + 1, min(planned+max(f.width.now, dropped), head.Latest.Number)}
			if planned < head.Finalized && dropped == 0 {
				r.to = min(r.to, head.Finalized)
			}
			planned, dropped = r.to, 0
			return r, true
		},
		func(ctx context.Context, r blocks) (rangeEvents, error) { return f.read(ctx, r, head) },
		func(got rangeEvents, err error) error {
			if err != nil {
				f.width.failed()
				return err
			}
			f.width.held(len(got.events))
			next := position
			next.block, next.blockTime = got.to, got.end.Time
			if got.from <= position.block {
				next.reorgs++
				next.provenEnd = min(next.provenEnd, got.from)
			}
			err = f.apply(ctx, advance{
				from: got.from, events: got.events, finalized: head.Finalized, settled: settledAt(head), quarantined: got.quarantined,
				blocks: droppable(got.events, keptBlock{got.end.Number, got.end.Hash}, settledAt(head)),
				before: position, checkpoint: next,
			})
			if err == nil {
				position = next
				f.prover.tookWord(got.blocks, head)
			}
			return err
		})
	return position, err
}

// read reads the events of a range, and its last block.
func (f *follower) read(ctx context.Context, r blocks, head order.Head) (got rangeEvents, err error) {
	ctx, span := tracer().Start(ctx, "index.follow", trace.WithAttributes(
		attribute.Int64("crossgate.chain.id", int64(f.chain)),
		attribute.Int64("crossgate.block.from", int64(r.from)),
		attribute.Int64("crossgate.block.to", int64(r.to)),
	))
	defer func() { endSpan(span, err) }()
	events, quarantined, err := f.quarantine.eventsOf(ctx, r, f.source.Events)
	if err != nil {
		return rangeEvents{}, fmt.Errorf("read events of blocks %d to %d: %w", r.from, r.to, err)
	}
	// Asked after the events: an endpoint that does not know the last block has not returned all of them, and
	// a reorg in between shows in its hash.
	last, err := f.source.Block(ctx, r.to)
	if err != nil {
		return rangeEvents{}, fmt.Errorf("read block %d: %w", r.to, err)
	}
	if r.to == head.Latest.Number && last.Hash != head.Latest.Hash {
		return rangeEvents{}, fmt.Errorf("block %d was replaced while its events were read", r.to)
	}
	return rangeEvents{blocks: r, events: events, end: last, quarantined: quarantined}, nil
}

// inSequence reads the ranges that next plans and hands what they hold to store in their sequence. One is always
// read; more are read ahead, one for each slot of the semaphore that is free. A range keeps its slot until it is
// stored, so the semaphore bounds the memory too, however much faster blocks are read than stored. It ends with the
// first error of store, when all reading has ended.
func inSequence(
	ctx context.Context, readAhead chan struct{}, next func() (blocks, bool),
	read func(context.Context, blocks) (rangeEvents, error), store func(rangeEvents, error) error,
) error {
	type result struct {
		got rangeEvents
		err error
	}
	type pending struct {
		result  chan result
		release func() // its slot
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
