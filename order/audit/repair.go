package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/follow"
	"crossgate/order/ledger"
	"crossgate/order/proof"
	"crossgate/store"
)

// Repair is the result of repairing the store for one chain.
type Repair struct {
	Chain    chain.ID
	From, To uint64     // blocks verified, or final blocks that the index has read of the chain
	Blocks   uint64     // blocks read again
	Added    uint64     // events
	Removed  uint64     // events
	Orders   []order.ID // orders corrected
	Wrong    []string   // endpoints found wrong, if remembered
	Left     *Audit     // the comparison, with the remaining differences; nil for a range of blocks
	Err      error      // why the repair ended early; another one resumes there
}

// IsWhole reports whether no error or difference is known to remain.
func (r Repair) IsWhole() bool { return r.Err == nil && (r.Left == nil || r.Left.IsSound()) }

// repairAttempts is how many times in a row reading may fail before a repair gives up on a chain.
const repairAttempts = 5

// Repair audits the orders of a selection and corrects the store if it differs from a chain: the blocks concerned are
// read again and prove their contents. Each chain is corrected in one transaction and compared again, until nothing
// differs or can be read differently. Gateways may follow the chains meanwhile. report is called for every step, from
// several goroutines. The result is ascending by chain.
func (b *Books) Repair(ctx context.Context, of ledger.Selection, report func(Progress)) ([]Repair, error) {
	return b.repairEach(ctx, of.Chain, report, func(ctx context.Context, m *mender) error { return m.mend(ctx, of) })
}

// RepairBlocks verifies final blocks from first to last that the index has read, and corrects the store if they prove
// it wrong. It works newest first, so that another RepairBlocks can resume where this one stopped. Blocks that join the
// proven ones count as proven. A zero id means every chain.
func (b *Books) RepairBlocks(ctx context.Context, id chain.ID, first, last uint64, report func(Progress)) ([]Repair, error) {
	return b.repairEach(ctx, id, report, func(ctx context.Context, m *mender) error {
		return m.mendBlocks(ctx, ledger.Range{From: first, To: last})
	})
}

type mender struct {
	*follow.Reader
	width    follow.Width
	report   func(Progress)
	progress Progress
	repair   Repair
}

func newMender(r *follow.Reader, report func(Progress)) *mender {
	return &mender{Reader: r, width: follow.NewWidth(r.Range), report: report, progress: Progress{Chain: r.ID}, repair: Repair{Chain: r.ID}}
}

// repairEach repairs chains concurrently, each under its lease.
func (b *Books) repairEach(
	ctx context.Context, id chain.ID, report func(Progress), mend func(context.Context, *mender) error,
) ([]Repair, error) {
	if err := b.learnAnchors(ctx); err != nil {
		return nil, err
	}
	return each(b.of(id), func(r *follow.Reader) Repair {
		m := newMender(r, report)
		m.repair.Err = m.underLease(ctx, mend)
		m.progress.Done, m.progress.Err = m.repair.Err == nil, m.repair.Err
		report(m.progress)
		return m.repair
	}), ctx.Err()
}

func (m *mender) underLease(ctx context.Context, mend func(context.Context, *mender) error) error {
	return underLease(ctx, m.Reader, "repair", func(working context.Context, held store.Lease) error {
		m.Lease = held
		return mend(working, m)
	})
}

// mend corrects what an audit of a selection finds, and audits again the orders that differed, until nothing differs or
// can be read differently. It starts over if the store was changed meanwhile.
func (m *mender) mend(ctx context.Context, of ledger.Selection) error {
	for range repairAttempts {
		a := &auditor{Reader: m.Reader, report: m.reportUnfinished}
		found := a.run(ctx, of)
		if left := m.repair.Left; left == nil {
			m.repair.From, m.repair.To, m.repair.Left = found.From, found.To, &found
		} else {
			left.Unchecked = append(left.Unchecked, found.Unchecked...)
			left.Differences, left.Err = found.Differences, found.Err
		}
		if err := cmp.Or(found.Err, m.Ledger.NoteCompared(ctx, m.Lease, a.over)); err != nil || len(found.Differences) == 0 {
			return err
		}
		before := m.repair.Added + m.repair.Removed
		if err := m.correctAll(ctx, found.Differences); err != nil && !errors.Is(err, ledger.ErrMoved) {
			return err
		} else if err == nil && m.repair.Added+m.repair.Removed == before {
			return nil
		}
		of = ledger.Selection{Chain: of.Chain, StatesAlone: of.StatesAlone}
		for _, each := range found.Differences {
			of.Orders = append(of.Orders, each.Order)
		}
	}
	return nil
}

// reportUnfinished reports the progress of an audit that is not the last step.
func (m *mender) reportUnfinished(p Progress) {
	p.Done = false
	m.progress = p
	m.report(p)
}

// correctAll reads again the blocks with differences, and stores their contents in one transaction.
func (m *mender) correctAll(ctx context.Context, differences []Difference) error {
	position, known, err := m.Ledger.Checkpoint(ctx, m.ID)
	if err != nil || !known {
		return err
	}
	var whole ledger.Correction
	for number, differing := range byBlock(differences) {
		c, err := m.readAgain(ctx, number, position, differing)
		if errors.As(err, new(*order.UnreadableError)) || IsRefusal(err) {
			m.Logger.WarnContext(ctx, "block not reread; its orders still differ", "block", number, "error", err)
			continue
		}
		if err != nil {
			return fmt.Errorf("read block %d again: %w", number, err)
		}
		whole.Missing, whole.Wrong = append(whole.Missing, c.Missing...), append(whole.Wrong, c.Wrong...)
		m.repair.Blocks++
	}
	if whole.IsEmpty() {
		return nil
	}
	changes, err := m.Ledger.Write(ctx, m.Lease, func(tx *ledger.Tx) error {
		if err := tx.WithdrawAnswers(ctx, m.ID, position); err != nil {
			return err
		}
		return tx.Correct(ctx, whole)
	})
	if err != nil {
		return err
	}
	m.corrected(ctx, whole, changes)
	return nil
}

// byBlock groups differing events by block, since blocks are read again.
func byBlock(differences []Difference) map[uint64]ledger.Correction {
	found := map[uint64]ledger.Correction{}
	for _, d := range differences {
		for _, e := range d.Missing {
			c := found[e.At.Block]
			c.Missing = append(c.Missing, e)
			found[e.At.Block] = c
		}
		for _, e := range d.False {
			c := found[e.At.Block]
			c.Wrong = append(c.Wrong, e)
			found[e.At.Block] = c
		}
	}
	return found
}

// readAgain returns the correction of the store for a block. The audit's events count as the first reading, and the
// block is read a second time.
func (m *mender) readAgain(
	ctx context.Context, number uint64, position ledger.Checkpoint, differing ledger.Correction,
) (ledger.Correction, error) {
	stored, err := m.Ledger.EventsBetween(ctx, m.ID, ledger.Range{From: number, To: number})
	if err != nil {
		return ledger.Correction{}, err
	}
	verdict, err := m.VerifyBlock(ctx, number, position, differing.Applied(stored))
	if err != nil {
		return ledger.Correction{}, err
	}
	m.repair.Wrong = append(m.repair.Wrong, verdict.Wrong...)
	return ledger.Correct(stored, verdict.Events), nil
}

func (m *mender) corrected(ctx context.Context, c ledger.Correction, changes []order.Change) {
	if c.IsEmpty() {
		return
	}
	proof.CountCorrections(ctx, m.ID, len(c.Missing)+len(c.Wrong))
	m.Report(changes)
	m.repair.Added += uint64(len(c.Missing))
	m.repair.Removed += uint64(len(c.Wrong))
	for _, each := range changes {
		m.repair.Orders = append(m.repair.Orders, each.Order)
	}
	slices.SortFunc(m.repair.Orders, chain.Hash.Compare)
	m.repair.Orders = slices.Compact(m.repair.Orders)
}

// mendBlocks verifies the part of a range that is final and that the index has read. Blocks before the origin count as
// verified: nothing can be in them.
func (m *mender) mendBlocks(ctx context.Context, asked ledger.Range) error {
	position, known, err := m.Ledger.Checkpoint(ctx, m.ID)
	if err != nil || !known {
		return err
	}
	head, err := m.Source.Head(ctx)
	if err != nil {
		return fmt.Errorf("read head: %w", err)
	}
	r := ledger.Range{From: max(asked.From, position.First), To: min(asked.To, position.Block, head.Finalized)}
	if r.From > r.To {
		return nil
	}
	origin, err := originBefore(ctx, m.Orders, r.To)
	if err != nil {
		return err
	}
	first := max(r.From, origin)
	m.repair.From, m.repair.To = r.From, r.To
	m.progress.Total = r.To - first + 1
	changes, err := m.RetryQuarantined(ctx)
	m.Report(changes)
	if err != nil {
		return err
	}
	pause, failures := m.Paces.Asked, 0
	for end := r.To + 1; end > first; {
		part := ledger.Range{From: max(first, end-min(end, m.width.Now, proof.Together)), To: end - 1}
		proven := part
		if part.From == first {
			proven.From = r.From
		}
		isLeft, err := m.LeaveOut(ctx, part, m.mendPart(ctx, part, proven))
		if err == nil && !isLeft {
			end, pause, failures = part.From, m.Paces.Asked, 0
			m.width.Held(0)
		}
		if err == nil {
			continue
		}
		if failures++; failures == repairAttempts {
			return fmt.Errorf("verify blocks %d to %d: %w", part.From, part.To, err)
		}
		m.width.Failed()
		m.progress.Err = err
		m.report(m.progress)
		pause = m.PauseAfter(err, pause)
		if !order.Wait(ctx, pause, nil) {
			return ctx.Err()
		}
	}
	return nil
}

// mendPart verifies some blocks, and stores the differences together with the blocks that are proven then.
func (m *mender) mendPart(ctx context.Context, part, proven ledger.Range) error {
	position, _, err := m.Ledger.Checkpoint(ctx, m.ID)
	if err != nil {
		return err
	}
	came, err := m.Verify(ctx, part, func(tx *ledger.Tx, found *proof.Proven) error {
		if !found.Correction.IsEmpty() {
			if err := tx.WithdrawAnswers(ctx, m.ID, position); err != nil {
				return err
			}
		}
		if found.Standing == order.Single {
			return nil
		}
		return tx.JoinProven(ctx, m.ID, proven)
	})
	if err != nil {
		return err
	}
	m.corrected(ctx, came.Correction, came.Changes)
	m.repair.Wrong = append(m.repair.Wrong, came.Wrong...)
	slices.Sort(m.repair.Wrong)
	m.repair.Wrong = slices.Compact(m.repair.Wrong)
	count := part.To - part.From + 1
	m.repair.Blocks += count
	m.progress.Read += count
	m.progress.Events += uint64(len(came.Correction.Missing) + len(came.Correction.Wrong))
	m.progress.Err = nil
	m.report(m.progress)
	return nil
}
