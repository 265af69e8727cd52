package index

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/store"
)

// When final blocks are read a second time. What one endpoint's word stands for is proven soon, provenAtOnce blocks
// or more at a time, which two lists of logs do. Fewer, of which each costs a header, are proven provenPromptly at a
// time where somebody asks about the chain, else when the last proof is provenSoon ago; blocks at the tip, which were
// read with evidence, once there are provenTogether of them or the last proof is provenEvery ago.
const (
	provenAtOnce   = 600
	provenPromptly = 32
	provenSlice    = 5 // of those that are proven promptly
	provenSoon     = 10 * time.Minute
	provenTogether = 1000
	provenEvery    = 30 * time.Minute
	provenAgain    = 10_000 // blocks, when an endpoint is found wrong for the first time
)

// prover knows which blocks of a chain were read on one endpoint's word, and what second readings came to. Only the
// follower's goroutine asks it; others read corrections.
type prover struct {
	wordEnd uint64          // blocks before it were read on one endpoint's word, as far as is known
	since   uint64          // first block that was proven since the start
	at      time.Time       // when blocks were proven last
	liars   map[string]bool // endpoints that were found wrong since the start

	corrections atomic.Int64 // events that second readings added or removed
}

// begin takes up a position. At the start nothing is known of the evidence by which the blocks up to it were read.
func (p *prover) begin(position checkpoint) {
	if p.wordEnd == 0 {
		p.wordEnd = position.block + 1
	}
}

// tookWord takes note of a range whose older blocks were read on one endpoint's word.
func (p *prover) tookWord(r blocks, head order.Head) {
	if end := min(r.to+order.TipRange, head.Latest.Number) + 1; end > r.from+order.TipRange {
		p.wordEnd = max(p.wordEnd, end-order.TipRange)
	}
}

// due returns how many of the blocks from position.provenEnd to before end are to be read a second time now, at most:
// few where those who ask wait for the next look meanwhile. Few blocks are proven by themselves where that is prompt.
func (p *prover) due(position checkpoint, end uint64, isPrompt bool) uint64 {
	if end <= position.provenEnd {
		return 0
	}
	count := end - position.provenEnd
	isWeak := position.provenEnd < p.wordEnd
	since := time.Since(p.at)
	isSoon := isWeak && (count >= provenAtOnce || since >= provenSoon)
	switch {
	case count >= provenTogether || isSoon || since >= provenEvery:
		return provenTogether
	case isPrompt && isWeak && (count >= provenPromptly || end >= p.wordEnd):
		return provenSlice
	}
	return 0
}

// endAfter returns the block before which a chain is proven when a range was read a second time and some endpoints were
// wrong. Where one of them was not known to err, what it had a part in is proven once more, this time by the blocks.
func (p *prover) endAfter(r blocks, wrong []string) uint64 {
	if slices.ContainsFunc(wrong, func(name string) bool { return !p.liars[name] }) {
		return max(p.since, r.from-min(r.from, provenAgain))
	}
	return r.to + 1
}

// add takes note of a proof, and of the endpoints that it shows wrong.
func (p *prover) add(wrong []string) {
	for _, name := range wrong {
		p.liars[name] = true
	}
	p.at = time.Now()
}

// prove has the final ones of the blocks that were read verified, and the store corrected where it was wrong. It
// goes on at the next look when half the time to it has gone: what was read at a start takes long to prove, and new
// blocks must not wait.
func (f *follower) prove(ctx context.Context, position checkpoint, head order.Head) error {
	verifier, can := f.source.(order.Verifier)
	if !can {
		return nil
	}
	end := min(head.Finalized, position.block) + 1
	for begun := time.Now(); ; {
		// Few blocks are proven by themselves where each look brings no more than are read with evidence.
		pace := f.paces.Of(f.facts, f.demand.now())
		isPrompt := pace <= f.paces.Asked && (f.facts.BlockTime == 0 || f.facts.BlockTime*order.TipRange >= pace)
		most := f.prover.due(position, end, isPrompt)
		if most == 0 || time.Since(begun) > pace/2 {
			return nil
		}
		r := blocks{position.provenEnd, min(position.provenEnd+min(f.width.now, most), end) - 1}
		f.prover.since = min(f.prover.since, r.from)
		if err := f.agreeFor(ctx, r, end); err != nil {
			return err
		}
		came, err := f.verify(ctx, verifier, r, func(tx *store.Tx, found secondReading) error {
			position.provenEnd = f.prover.endAfter(r, found.wrong)
			moved, err := tx.ExecContext(ctx, `UPDATE checkpoints SET proven_end = $1 WHERE chain = $2 AND proven_end = $3 AND block >= $4`,
				int64(position.provenEnd), int64(f.chain), int64(r.from), int64(r.to))
			agreed := f.anchorage.agreed
			if err := changedOne(moved, err); err != nil || agreed.Hash.IsAbsent() || agreed.Number > min(r.to, settledAt(head)) {
				return err
			}
			return addAnchor(ctx, tx, f.chain, agreed)
		})
		if left, err := f.leaveOut(ctx, r, err); err != nil {
			return fmt.Errorf("prove blocks %d to %d: %w", r.from, r.to, err)
		} else if left {
			continue
		}
		f.prover.add(came.wrong)
		f.report(came.orders)
		f.sync.proved(position.provenEnd)
	}
}

// leaveOut quarantines the blocks for whose sake a range could not be read a second time, once that is often enough. It
// reports whether it did. Any other error is returned.
func (f *follower) leaveOut(ctx context.Context, r blocks, err error) (left bool, _ error) {
	list := f.quarantine.due(err, r)
	if len(list) == 0 {
		return false, err
	}
	f.logger.WarnContext(ctx, "blocks quarantined that could not be read a second time; they are asked for again", "error", err)
	failed := f.store.UpdateUnder(ctx, f.lease, func(tx *store.Tx) error { return quarantineBlocks(ctx, tx, f.chain, list) })
	if failed != nil {
		return false, failed
	}
	return true, f.learnQuarantined(ctx)
}

// verify has a range read a second time, and stores what differs together with what the caller has to.
func (f *follower) verify(
	ctx context.Context, verifier order.Verifier, r blocks, also func(*store.Tx, secondReading) error,
) (came secondReading, err error) {
	ctx, span := tracer().Start(ctx, "index.prove", trace.WithAttributes(
		attribute.Int64("crossgate.chain.id", int64(f.chain)),
		attribute.Int64("crossgate.block.from", int64(r.from)),
		attribute.Int64("crossgate.block.to", int64(r.to)),
	))
	defer func() { endSpan(span, err) }()
	quarantined, err := f.store.quarantined(ctx, f.chain, r)
	if err != nil {
		return came, err
	}
	parts := r.without(quarantined)
	stored, err := f.firstReading(ctx, r, parts)
	if err != nil {
		return came, err
	}
	stored, _ = apart(stored, quarantined)
	verdict, err := verifyParts(ctx, verifier, parts, stored)
	if err != nil {
		return came, err
	}
	if came.correction, err = correct(stored, verdict.Events); err != nil {
		return came, err
	}
	came.wrong = verdict.Wrong
	came.orders, err = f.store.correct(ctx, f.lease, f.chain, came.correction, func(tx *store.Tx) error { return also(tx, came) })
	if err == nil {
		f.tellCorrection(ctx, r, came.correction, verdict.Wrong)
	}
	return came, err
}

// apart parts events from those in blocks that are left out, which may have been read in part.
func apart(events []order.Event, left []QuarantinedBlock) (others, ofLeft []order.Event) {
	for _, e := range events {
		if slices.ContainsFunc(left, func(b QuarantinedBlock) bool { return b.Number == e.At.Block }) {
			ofLeft = append(ofLeft, e)
		} else {
			others = append(others, e)
		}
	}
	return others, ofLeft
}

// secondReading is what a second reading came to.
type secondReading struct {
	correction correction
	orders     []Change
	wrong      []string // endpoints
}

// verifyParts has parts of a range verified, whose events were read before.
func verifyParts(ctx context.Context, verifier order.Verifier, parts []blocks, first []order.Event) (whole order.Proof, err error) {
	for _, part := range parts {
		verdict, err := verifier.Verify(ctx, part.from, part.to, within(first, part))
		if err != nil {
			return whole, err
		}
		whole.Events = append(whole.Events, verdict.Events...)
		whole.Wrong = append(whole.Wrong, verdict.Wrong...)
	}
	slices.Sort(whole.Wrong)
	whole.Wrong = slices.Compact(whole.Wrong)
	return whole, nil
}

// tellCorrection counts and logs what a second reading changed, with the endpoints that were wrong.
func (f *follower) tellCorrection(ctx context.Context, r blocks, c correction, wrong []string) {
	if len(wrong) == 0 && c.isEmpty() {
		return
	}
	countCorrections(ctx, f.chain, len(c.missing)+len(c.wrong))
	f.prover.corrections.Add(int64(len(c.missing) + len(c.wrong)))
	f.logger.WarnContext(ctx, "the second reading of blocks differs from the first; what the blocks prove was stored",
		"from", r.from, "to", r.to, "missing", len(c.missing), "false", len(c.wrong), "endpoints", strings.Join(wrong, ", "))
}

// within are those events that a range holds.
func within(events []order.Event, r blocks) []order.Event {
	return slices.DeleteFunc(slices.Clone(events), func(e order.Event) bool { return e.At.Block < r.from || e.At.Block > r.to })
}

// correction is what makes the store right.
type correction struct {
	missing []order.Event // that the blocks hold
	wrong   []order.Event // that they do not hold
}

func (c correction) isEmpty() bool { return len(c.missing) == 0 && len(c.wrong) == 0 }

// correct compares what is stored of blocks with what they hold.
func correct(stored, proven []order.Event) (c correction, err error) {
	have, err := rowTexts(alike(stored, proven))
	if err != nil {
		return c, err
	}
	want, err := rowTexts(proven)
	if err != nil {
		return c, err
	}
	c.wrong, c.missing = lacking(stored, have, want), lacking(proven, want, have)
	return c, nil
}

// alike returns stored events with the initiators of proven ones where the stored ones were read without.
func alike(stored, proven []order.Event) []order.Event {
	events := slices.Clone(stored)
	for i := range events {
		if e := &events[i]; e.At.Initiator.IsAbsent() {
			e.At.Initiator = initiatorAt(e.At, proven)
		}
	}
	return events
}

// lacking are those events whose text is not among others.
func lacking(events []order.Event, texts, others []string) (lack []order.Event) {
	known := make(map[string]bool, len(others))
	for _, text := range others {
		known[text] = true
	}
	for i, e := range events {
		if !known[texts[i]] {
			lack = append(lack, e)
		}
	}
	return lack
}

// rowTexts are events as texts that are the same when they are stored alike.
func rowTexts(events []order.Event) ([]string, error) {
	texts := make([]string, len(events))
	for i, e := range events {
		row, err := rowOf(e)
		if err != nil {
			return nil, err
		}
		texts[i] = fmt.Sprint(row...)
	}
	return texts, nil
}

// correct stores a correction, and what else belongs into its transaction.
func (s orderStore) correct(
	ctx context.Context, l store.Lease, id chain.ID, c correction, also func(*store.Tx) error,
) (changes []Change, err error) {
	err = s.UpdateUnder(ctx, l, func(tx *store.Tx) error {
		if err := also(tx); err != nil || c.isEmpty() {
			return err
		}
		rows := make([][]any, len(c.wrong))
		for i, e := range c.wrong {
			rows[i] = []any{int64(id), int64(e.At.Block), int64(e.At.LogIndex)}
		}
		for _, table := range []string{"events", "swaps"} {
			if err := tx.ExecEach(ctx, `DELETE FROM `+table+` WHERE chain = $1 AND block = $2 AND log_index = $3`, rows); err != nil {
				return err
			}
		}
		folded, err := addEvents(ctx, tx, c.missing, c.wrong)
		if err != nil {
			return err
		}
		changes = changesOf(folded, slices.Concat(c.wrong, c.missing))
		return s.announce(ctx, tx, changes)
	})
	if err != nil {
		return nil, fmt.Errorf("correct blocks of chain %d: %w", id, err)
	}
	return changes, nil
}
