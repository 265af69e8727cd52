package audit

import (
	"context"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/follow"
)

// BackfillEstimate is what is left to read of a chain's history, and what reading it takes.
type BackfillEstimate struct {
	Chain    chain.ID
	From, To uint64 // blocks, both included; To below From: nothing is left
	// Calls for blocks without orders. Each creation takes one more for its receipt, and each block with orders another
	// one where nodes leave the time out of logs.
	Calls uint64
	Err   error // why it is not known
}

// Blocks is how many blocks are left.
func (e BackfillEstimate) Blocks() uint64 { return e.To + 1 - min(e.From, e.To+1) }

// usualSpan is how many blocks public endpoints search at once.
const usualSpan = 5000

// EstimateBackfill returns what Backfill would read, of every chain, by the calls that it begins with.
func (b *Books) EstimateBackfill(ctx context.Context) []BackfillEstimate {
	return each(b.Readers, func(r *follow.Reader) BackfillEstimate { return newBackfill(r, nil).estimate(ctx) })
}

func (b *backfill) estimate(ctx context.Context) BackfillEstimate {
	e := BackfillEstimate{Chain: b.ID}
	position, known, err := b.Ledger.Checkpoint(ctx, b.ID)
	first := position.First
	if err == nil && !known {
		head, failed := b.Source.Head(ctx)
		first, err = head.Finalized, failed
	}
	if err != nil || first == 0 {
		e.From = 1
	} else {
		e.To = first - 1
		e.From, err = b.origin(ctx, first)
	}
	if e.Err = err; err != nil || e.Blocks() == 0 {
		return e
	}
	span, width := uint64(usualSpan), b.width.Most
	if fromLogs, can := b.Source.(order.LogSource); can {
		if span, e.Err = fromLogs.SearchSpan(ctx, e.To-min(e.To, width-1), width); e.Err != nil {
			return e
		}
	}
	e.Calls = callsFor(e.Blocks(), width, span)
	return e
}

// callsFor is how many calls blocks without orders take, read in ranges of so many that are searched so many at
// once: each range is read twice, and its first block.
func callsFor(blocks, width, span uint64) uint64 {
	const readings = 2
	return (blocks + width - 1) / width * (readings*((min(blocks, width)+span-1)/span) + 1)
}

// callsOf is how many calls a source has made; zero where it does not count.
func callsOf(source order.Source) uint64 {
	if counter, counts := source.(order.CallCounter); counts {
		return counter.Calls()
	}
	return 0
}

// reportProgress reports how far the backfill is, with what it has cost and is expected to.
func (b *backfill) reportProgress() {
	p := &b.progress
	if made := callsOf(b.Source); made > b.counted {
		p.Calls = made - b.counted
		p.Expected = p.Calls + callsFor(p.Total-p.Read, b.width.Most, usualSpan)
		if p.Read > 0 {
			p.Expected = uint64(float64(p.Calls) * float64(p.Total) / float64(p.Read))
		}
	}
	b.report(b.progress)
}
