// Package proof decides how far to trust a chain's endpoints. It reads final blocks a second time, and corrects the
// ledger if the first reading was wrong. Anchors are blocks that endpoints agreed on, and that no endpoint can
// undo. Blocks that no endpoint can return are quarantined and requested again.
package proof

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/ledger"
	"crossgate/store"
)

// When final blocks are read a second time. Blocks that rest on a single endpoint are proven soon: ProvenAtOnce or more
// at a time by two lists of logs. Fewer cost a header each: they are proven provenPromptly at a time while the chain is
// asked about, else ProvenSoon after the last proof. Blocks at the tip, read with evidence, are proven once there are
// Together of them or ProvenEvery after the last proof.
const (
	Together       = 1000
	ProvenAtOnce   = 600
	provenAlone    = 256 // fewer cost a header each and are proven in slices
	provenPromptly = 32
	provenSlice    = 5 // size of a slice
	ProvenSoon     = 10 * time.Minute
	ProvenEvery    = 30 * time.Minute
	provenAgain    = 10_000 // blocks to prove once more when an endpoint is first found wrong
)

// Chain is a chain, the ledger that it is read into, and how far its endpoints are trusted. Only Events and
// Corrections are safe for concurrent use.
type Chain struct {
	chain.Chain // only its ID is set if the registry lacks the chain
	Source      order.Source
	Ledger      ledger.Ledger
	Lease       store.Lease // protects writes to the ledger; set by the writer
	Logger      *slog.Logger

	Orders order.Reader // nil: the source cannot be asked about single orders

	quarantine quarantine
	prover     prover
	anchorage  anchorage
}

// NewChain returns a Chain without any proof yet.
func NewChain(c chain.Chain, source order.Source, l ledger.Ledger, logger *slog.Logger) Chain {
	orders, _ := source.(order.Reader)
	anchored, _ := source.(order.AnchoredSource)
	return Chain{
		Chain: c, Source: source, Ledger: l, Logger: logger, Orders: orders,
		quarantine: quarantine{unreadable: make(map[uint64]int)},
		anchorage:  anchorage{source: anchored},
		prover: prover{
			since: math.MaxUint64, at: time.Now(), liars: make(map[string]bool), corrections: new(atomic.Int64),
		},
	}
}

// Corrections returns how many events second readings have added or removed since the start.
func (c *Chain) Corrections() uint64 { return uint64(c.prover.corrections.Load()) }

// prover records which blocks of a chain rest on a single endpoint, and the results of second readings.
type prover struct {
	wordEnd uint64          // end of the blocks known to rest on a single endpoint
	since   uint64          // first block that was proven since the start
	at      time.Time       // time of the last proof
	liars   map[string]bool // endpoints found wrong since the start
	back    time.Time       // earliest time to read blocks again that rest on a single endpoint
	pause   time.Duration   // between such attempts
	backTo  uint64          // block that proving last went back to

	corrections *atomic.Int64 // events that second readings added or removed
}

// Begin takes up a position. At the start it is not known on what evidence the blocks up to there were read.
func (c *Chain) Begin(position ledger.Checkpoint) {
	if c.prover.wordEnd == 0 {
		c.prover.wordEnd = position.Block + 1
	}
}

// TookWord records that a range was read, whose older blocks rest on a single endpoint.
func (c *Chain) TookWord(r ledger.Range, head order.Head) {
	if end := min(r.To+order.TipRange, head.Latest.Number) + 1; end > r.From+order.TipRange {
		c.prover.wordEnd = max(c.prover.wordEnd, end-order.TipRange)
	}
}

// Haste is how promptly a chain's blocks are proven.
type Haste uint8

const (
	AtLeisure Haste = iota // all that is due in one go: no client asks about the chain
	InSlices               // a few at a time, since clients wait for the next poll meanwhile
	Promptly               // in slices, even if there are only a few blocks
)

// due returns the maximum number of blocks in [position.ProvenEnd, end) to read a second time now.
func (p *prover) due(position ledger.Checkpoint, end uint64, haste Haste) uint64 {
	if end <= position.ProvenEnd {
		return 0
	}
	count := end - position.ProvenEnd
	isWeak := position.ProvenEnd < p.wordEnd
	since := time.Since(p.at)
	isSoon := isWeak && (count >= ProvenAtOnce || since >= ProvenSoon) || since >= ProvenEvery
	switch {
	case count >= Together || isSoon && haste == AtLeisure || count >= provenAlone && (isSoon || haste == Promptly && isWeak):
		return Together
	case isSoon || haste == Promptly && isWeak && (count >= provenPromptly || end >= p.wordEnd):
		return provenSlice
	}
	return 0
}

// endAfter returns the end of the proven blocks after a second reading of a range that found endpoints wrong. If one of
// them is newly found wrong, blocks that it may have reported are proven again, by the blocks themselves.
func (p *prover) endAfter(r ledger.Range, wrong []string) uint64 {
	if slices.ContainsFunc(wrong, func(name string) bool { return !p.liars[name] }) {
		return max(p.since, r.From-min(r.From, provenAgain))
	}
	return r.To + 1
}

// mayGoBack reports whether to read blocks again that rest on a single endpoint, at growing intervals until the first
// of them are confirmed: other endpoints may never have them.
func (p *prover) mayGoBack() bool {
	if time.Now().Before(p.back) {
		return false
	}
	p.pause = min(max(time.Second, 2*p.pause), ProvenEvery)
	p.back = time.Now().Add(p.pause)
	return true
}

// Proven is the result of a second reading.
type Proven struct {
	End        uint64 // blocks before it are proven
	Correction ledger.Correction
	Changes    []order.Change
	Wrong      []string // endpoints found wrong
	Standing   order.Standing
	SingleFrom uint64 // blocks from here to End rest on a single endpoint; 0: none do
}

// ProveNext verifies the next final blocks that are not proven, at most most of them, and corrects the ledger if it was
// wrong; isDue is false if no blocks are to be read a second time now.
func (c *Chain) ProveNext(
	ctx context.Context, position ledger.Checkpoint, head order.Head, haste Haste, most uint64,
) (came Proven, isDue bool, err error) {
	end := min(head.Finalized, position.Block) + 1
	count := c.prover.due(position, end, haste)
	goesBack := count == 0 && position.IsSingle() && c.prover.mayGoBack()
	if count == 0 && !goesBack {
		return came, false, nil
	}
	r := ledger.Range{From: position.ProvenEnd, To: min(position.ProvenEnd+min(most, count), end) - 1}
	if goesBack { // the newest ones show whether there is another endpoint now
		r = ledger.Range{From: max(position.SingleFrom, position.ProvenEnd-min(position.ProvenEnd, provenSlice)), To: position.ProvenEnd - 1}
	} else if r, err = c.Ledger.Beginning(ctx, c.ID, r, ledger.EventsAtOnce); err != nil {
		return came, true, err
	}
	c.prover.since = min(c.prover.since, r.From)
	if err := c.agreeFor(ctx, position, r, end); err != nil {
		return came, true, err
	}
	came, err = c.Verify(ctx, r, func(tx *ledger.Tx, found *Proven) error {
		isSingle := position.IsSingle()
		if found.End = c.prover.endAfter(r, found.Wrong); isSingle { // else they may have been dropped
			found.SingleFrom = position.SingleFrom
		}
		switch {
		case found.Standing == order.Single && !isSingle:
			found.SingleFrom = max(r.From, 1) // 0 means none
		case found.Standing > order.Single && isSingle && (goesBack || c.prover.mayGoBack()):
			found.End, found.SingleFrom, c.prover.backTo = min(found.End, position.SingleFrom), 0, position.SingleFrom
		case found.Standing > order.Single && r.From == c.prover.backTo:
			c.prover.pause, c.prover.back = 0, time.Time{}
		}
		agreed := c.anchorage.agreed
		if err := tx.Prove(ctx, c.ID, ledger.Range{From: position.ProvenEnd, To: r.To}, found.End, found.SingleFrom); err != nil || agreed.Hash.IsAbsent() || agreed.Number > min(r.To, SettledAt(head)) {
			return err
		}
		return tx.Anchor(ctx, c.ID, agreed)
	})
	if isLeft, err := c.LeaveOut(ctx, r, err); isLeft {
		return Proven{End: position.ProvenEnd, SingleFrom: position.SingleFrom}, true, err
	} else if err != nil {
		return came, true, fmt.Errorf("prove blocks %d to %d: %w", r.From, r.To, err)
	}
	for _, name := range came.Wrong {
		c.prover.liars[name] = true
	}
	if r.To+1 == end {
		c.prover.at = time.Now()
	}
	return came, true, nil
}

// Verify reads a range a second time and stores the differences, in one transaction with the writes of also.
func (c *Chain) Verify(ctx context.Context, r ledger.Range, also func(*ledger.Tx, *Proven) error) (came Proven, err error) {
	ctx, end := Span(ctx, "index.prove", c.ID, r)
	defer func() { end(err) }()
	quarantined, err := c.Ledger.Quarantined(ctx, c.ID, r)
	if err != nil {
		return came, err
	}
	stored, err := c.Ledger.EventsBetween(ctx, c.ID, r)
	if err != nil {
		return came, err
	}
	stored, _ = apart(stored, quarantined)
	verdict, err := c.verifyParts(ctx, r.Without(quarantined), stored)
	if err == nil {
		verdict, err = c.attest(ctx, verdict)
	}
	if err != nil {
		return came, err
	}
	came.Correction, came.Wrong, came.Standing = ledger.Correct(stored, verdict.Events), verdict.Wrong, verdict.Standing
	came.Changes, err = c.Ledger.Write(ctx, c.Lease, func(tx *ledger.Tx) error {
		if err := also(tx, &came); err != nil {
			return err
		}
		return tx.Correct(ctx, came.Correction)
	})
	if err != nil {
		return came, fmt.Errorf("correct blocks of chain %d: %w", c.ID, err)
	}
	c.noteCorrection(ctx, r, came.Correction, verdict.Wrong)
	return came, nil
}

// ErrOneWord says that nothing is changed, since a single endpoint contradicts blocks that others confirmed.
var ErrOneWord = errors.New("only one endpoint has it")

// VerifyBlock reads a block a second time, including senders and times; see order.Source. It returns ErrOneWord if
// only one endpoint has the block although several have those around it.
func (c *Chain) VerifyBlock(ctx context.Context, number uint64, position ledger.Checkpoint, first []order.Event) (order.Evidence, error) {
	p, err := c.Source.Verify(ctx, number, number, first)
	if err == nil {
		p, err = c.attest(ctx, p)
	}
	if err == nil && p.Standing == order.Single && position.IsProven(number) {
		err = &order.UnreadableError{Block: number, Err: ErrOneWord}
	}
	return p, err
}

// attest verifies senders and times of events by signatures and headers, or by the reports of another endpoint.
func (c *Chain) attest(ctx context.Context, p order.Evidence) (order.Evidence, error) {
	if len(p.Events) == 0 {
		return p, nil
	}
	read, err := c.Source.Attest(ctx, p.Events)
	if err != nil {
		return p, fmt.Errorf("senders and times of %d events: %w", len(p.Events), err)
	}
	p.Events, p.Standing, p.Wrong = read.Events, min(p.Standing, read.Standing), append(p.Wrong, read.Wrong...)
	return p, nil
}

// apart separates events from those in quarantined blocks, which may have been read incompletely.
func apart(events []order.Event, left []ledger.QuarantinedBlock) (others, ofLeft []order.Event) {
	for _, e := range events {
		if slices.ContainsFunc(left, func(b ledger.QuarantinedBlock) bool { return b.Number == e.At.Block }) {
			ofLeft = append(ofLeft, e)
		} else {
			others = append(others, e)
		}
	}
	return others, ofLeft
}

// verifyParts verifies parts of a range; first are the events of their first reading.
func (c *Chain) verifyParts(ctx context.Context, parts []ledger.Range, first []order.Event) (whole order.Evidence, err error) {
	whole.Standing = order.Intrinsic
	for _, part := range parts {
		verdict, err := c.Source.Verify(ctx, part.From, part.To, ledger.Within(first, part))
		if err != nil {
			return whole, err
		}
		whole.Events = append(whole.Events, verdict.Events...)
		whole.Wrong = append(whole.Wrong, verdict.Wrong...)
		whole.Standing = min(whole.Standing, verdict.Standing)
	}
	slices.Sort(whole.Wrong)
	whole.Wrong = slices.Compact(whole.Wrong)
	return whole, nil
}

// Confirm replaces the first reading of a range that is not stored yet by a second one.
func (c *Chain) Confirm(ctx context.Context, r ledger.Range, got *ledger.Contents) error {
	for {
		slices.SortFunc(got.Quarantined, func(a, b ledger.QuarantinedBlock) int { return int(a.Number) - int(b.Number) })
		read, unread := apart(got.Events, got.Quarantined)
		verdict, err := c.verifyParts(ctx, r.Without(got.Quarantined), read)
		if more := c.quarantine.due(err, r); len(more) > 0 {
			got.Quarantined = append(got.Quarantined, more...)
			continue
		}
		if bad, is := errors.AsType[*order.UnreadableError](err); is && r.Holds(bad.Block) && ctx.Err() == nil {
			continue // it will soon be quarantined
		}
		if err != nil {
			return err
		}
		c.noteCorrection(ctx, r, ledger.Correct(read, verdict.Events), verdict.Wrong)
		got.Events, got.IsSingle = slices.Concat(verdict.Events, unread), verdict.Standing == order.Single
		return nil
	}
}

// Blame logs endpoints that contradicted others, or hashes, about a transaction.
func (c *Chain) Blame(ctx context.Context, wrong []string) {
	if len(wrong) > 0 {
		slices.Sort(wrong)
		c.Logger.WarnContext(ctx, "endpoints contradict other endpoints or hashes about a transaction", "endpoints", strings.Join(slices.Compact(wrong), ", "))
	}
}

// noteCorrection counts and logs the changes of a second reading, with the endpoints that were wrong.
func (c *Chain) noteCorrection(ctx context.Context, r ledger.Range, changed ledger.Correction, wrong []string) {
	if len(wrong) == 0 && changed.IsEmpty() {
		return
	}
	CountCorrections(ctx, c.ID, len(changed.Missing)+len(changed.Wrong))
	c.prover.corrections.Add(int64(len(changed.Missing) + len(changed.Wrong)))
	c.Logger.WarnContext(ctx, "second reading of blocks differs from the first; stored what the blocks prove",
		"from", r.From, "to", r.To, "missing", len(changed.Missing), "false", len(changed.Wrong), "endpoints", strings.Join(wrong, ", "))
}
