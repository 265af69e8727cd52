package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/store"
)

// Repair is what mending the store for one chain came to.
type Repair struct {
	Chain    chain.ID
	From, To uint64     // blocks: those that were verified, or what the index has read of the chain and is final
	Blocks   uint64     // that were read again
	Added    uint64     // events
	Removed  uint64     // events
	Orders   []order.ID // that were corrected
	Wrong    []string   // endpoints found wrong, where they were remembered
	Left     *Audit     // what was compared, and what of it still differs; nil of a range of blocks
	Err      error      // why the repair ended early: another one goes on from there
}

// IsWhole reports whether nothing is known to be wrong any more.
func (r Repair) IsWhole() bool { return r.Err == nil && (r.Left == nil || r.Left.IsSound()) }

// repairAttempts is how often in a row reading may fail before a repair gives up on a chain.
const repairAttempts = 5

// Repair audits the orders of a selection and corrects the store where a chain differs: the blocks concerned are read
// again and prove what they hold, or where a chain's blocks cannot, the transactions tell. Each chain is corrected in
// one transaction, and compared once more, until nothing differs or nothing can be read otherwise. Gateways may follow the chains meanwhile. report hears of every step, from
// several goroutines. The result is in ascending order of chains.
func (x *Index) Repair(ctx context.Context, of Selection, report func(Progress)) ([]Repair, error) {
	return x.repairEach(ctx, of.Chain, report, func(ctx context.Context, m *mender) error { return m.mend(ctx, of) })
}

// RepairBlocks has final blocks from first to last verified again, those that the index has read, and the store
// corrected where they prove it wrong; newest first, so that another RepairBlocks can go on where this one was stopped.
// What joins the blocks that are proven counts as proven. Zero for id: of every chain that can read blocks a second
// time.
func (x *Index) RepairBlocks(ctx context.Context, id chain.ID, first, last uint64, report func(Progress)) ([]Repair, error) {
	return x.repairEach(ctx, id, report, func(ctx context.Context, m *mender) error {
		return m.mendBlocks(ctx, blocks{first, last})
	})
}

// mender repairs what is stored of one chain.
type mender struct {
	*follower
	report   func(Progress)
	progress Progress
	repair   Repair
}

// repairEach mends chains at once, each under its lease.
func (x *Index) repairEach(
	ctx context.Context, id chain.ID, report func(Progress), mend func(context.Context, *mender) error,
) ([]Repair, error) {
	if err := x.learnAnchors(ctx); err != nil {
		return nil, err
	}
	repairs := make([]Repair, len(x.followers))
	x.eachSelected(Selection{Chain: id}, func(i int, own *follower) {
		m := &mender{follower: own, report: report, progress: Progress{Chain: own.chain}, repair: Repair{Chain: own.chain}}
		m.repair.Err = m.underLease(ctx, mend)
		m.progress.Done, m.progress.Err = m.repair.Err == nil, m.repair.Err
		report(m.progress)
		repairs[i] = m.repair
	})
	repairs = slices.DeleteFunc(repairs, func(r Repair) bool { return r.Chain == 0 })
	return repairs, ctx.Err()
}

// errRepairing says that another process holds the lease.
var errRepairing = errors.New("another process repairs the chain")

func (m *mender) underLease(ctx context.Context, mend func(context.Context, *mender) error) error {
	held, taken, err := m.store.Claim(ctx, "repair "+m.chain.String())
	if err != nil {
		return err
	}
	if !taken {
		return errRepairing
	}
	m.lease = held
	working, release := m.store.Hold(ctx, held)
	return errors.Join(mend(working, m), release())
}

// mend corrects what an audit of a selection finds, and audits again what differed, until nothing differs or nothing can
// be read otherwise. It begins anew when the store was changed meanwhile.
func (m *mender) mend(ctx context.Context, of Selection) error {
	for range repairAttempts {
		a := &auditor{job: m.job, report: m.reportUnfinished}
		found := a.run(ctx, of)
		if left := m.repair.Left; left == nil {
			m.repair.From, m.repair.To, m.repair.Left = found.From, found.To, &found
		} else {
			left.Unchecked = append(left.Unchecked, found.Unchecked...)
			left.Differences, left.Err = found.Differences, found.Err
		}
		if err := cmp.Or(found.Err, m.store.noteCompared(ctx, m.lease, a.over)); err != nil || len(found.Differences) == 0 {
			return err
		}
		before := m.repair.Added + m.repair.Removed
		if err := m.correctAll(ctx, found.Differences); err != nil && !errors.Is(err, errMoved) {
			return err
		} else if err == nil && m.repair.Added+m.repair.Removed == before {
			return nil
		}
		of = Selection{Chain: of.Chain, statesAlone: of.statesAlone}
		for _, each := range found.Differences {
			of.Orders = append(of.Orders, each.Order)
		}
	}
	return nil
}

// reportUnfinished reports the progress of an audit, after which there is more to do.
func (m *mender) reportUnfinished(p Progress) {
	p.Done = false
	m.progress = p
	m.report(p)
}

// correctAll reads again the blocks in which something differs, and stores what they hold in one transaction.
func (m *mender) correctAll(ctx context.Context, differences []Difference) error {
	position, known, err := m.store.checkpoint(ctx, m.chain)
	if err != nil || !known {
		return err
	}
	var whole correction
	for number, differing := range byBlock(differences) {
		c, err := m.readAgain(ctx, number, differing)
		if err != nil {
			return fmt.Errorf("read block %d again: %w", number, err)
		}
		whole.missing, whole.wrong = append(whole.missing, c.missing...), append(whole.wrong, c.wrong...)
		m.repair.Blocks++
	}
	if whole.isEmpty() {
		return nil
	}
	changes, err := m.store.correct(ctx, m.lease, m.chain, whole, func(tx *store.Tx) error {
		return withdrawAnswers(ctx, tx, m.chain, position)
	})
	if err != nil {
		return err
	}
	m.corrected(ctx, whole, changes)
	return nil
}

// byBlock are the events that differ, by the blocks that are to be read again.
func byBlock(differences []Difference) map[uint64]correction {
	found := map[uint64]correction{}
	for _, d := range differences {
		for _, e := range d.Missing {
			c := found[e.At.Block]
			c.missing = append(c.missing, e)
			found[e.At.Block] = c
		}
		for _, e := range d.False {
			c := found[e.At.Block]
			c.wrong = append(c.wrong, e)
			found[e.At.Block] = c
		}
	}
	return found
}

// readAgain returns what makes the store right about a block. What the audit was told is the first reading, and the
// block is read a second time. Where blocks cannot prove what they hold, transactions
// are believed for what they add and for what they have in the place of something else; that one is not found proves
// nothing.
func (m *mender) readAgain(ctx context.Context, number uint64, differing correction) (correction, error) {
	verifier, can := m.source.(order.Verifier)
	if !can {
		differing.wrong = refilled(differing.wrong, differing.missing, blocks{number, number})
		return differing, nil
	}
	block := blocks{number, number}
	stored, err := m.firstReading(ctx, block, []blocks{block})
	if err != nil {
		return correction{}, err
	}
	verdict, err := verifier.Verify(ctx, number, number, differing.applied(stored))
	if err != nil {
		return correction{}, err
	}
	m.repair.Wrong = append(m.repair.Wrong, verdict.Wrong...)
	return correct(stored, verdict.Events)
}

// applied are stored events as the correction makes them, in block and log order.
func (c correction) applied(stored []order.Event) []order.Event {
	kept := slices.DeleteFunc(slices.Clone(stored), func(e order.Event) bool {
		return slices.ContainsFunc(c.wrong, func(wrong order.Event) bool { return isSamePlace(e, wrong) })
	})
	kept = append(kept, c.missing...)
	slices.SortFunc(kept, func(a, b order.Event) int { return comparePlaces(a.At, b.At) })
	return kept
}

// withdrawAnswers has gateways that follow the chain end the answers which they keep about it: they notice that events
// were withdrawn. errMoved when they were meanwhile.
func withdrawAnswers(ctx context.Context, tx *store.Tx, id chain.ID, position checkpoint) error {
	counted, err := tx.ExecContext(ctx, `UPDATE checkpoints SET reorgs = reorgs + 1 WHERE chain = $1 AND reorgs = $2`,
		int64(id), int64(position.reorgs))
	if err := changedOne(counted, err); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `UPDATE swap_checkpoints SET reorgs = reorgs + 1 WHERE chain = $1 AND reorgs = $2`,
		int64(id), int64(position.reorgs))
	return err
}

// corrected takes note of a correction.
func (m *mender) corrected(ctx context.Context, c correction, changes []Change) {
	if c.isEmpty() {
		return
	}
	countCorrections(ctx, m.chain, len(c.missing)+len(c.wrong))
	m.job.report(changes)
	m.repair.Added += uint64(len(c.missing))
	m.repair.Removed += uint64(len(c.wrong))
	orders := map[order.ID]bool{}
	for _, id := range m.repair.Orders {
		orders[id] = true
	}
	for _, each := range changes {
		orders[each.Order] = true
	}
	m.repair.Orders = slices.SortedFunc(maps.Keys(orders), compareIDs)
}

// mendBlocks verifies a range, as far as the index has read it and it is final.
func (m *mender) mendBlocks(ctx context.Context, asked blocks) error {
	verifier, can := m.source.(order.Verifier)
	position, known, err := m.store.checkpoint(ctx, m.chain)
	if err != nil || !known || !can {
		return err
	}
	head, err := m.source.Head(ctx)
	if err != nil {
		return fmt.Errorf("read head: %w", err)
	}
	r := blocks{max(asked.from, position.first), min(asked.to, position.block, head.Finalized)}
	if r.from > r.to {
		return nil
	}
	m.repair.From, m.repair.To = r.from, r.to
	m.progress.Total = r.to - r.from + 1
	if err := m.retryQuarantined(ctx); err != nil {
		return err
	}
	pause, failures := m.paces.Asked, 0
	for end := r.to + 1; end > r.from; {
		part := blocks{max(r.from, end-min(end, m.width.now, provenTogether)), end - 1}
		err := m.mendPart(ctx, verifier, part)
		if err == nil {
			end, pause, failures = part.from, m.paces.Asked, 0
			m.width.held(0)
			continue
		}
		if failures++; failures == repairAttempts {
			return fmt.Errorf("verify blocks %d to %d: %w", part.from, part.to, err)
		}
		m.width.failed()
		m.progress.Err = err
		m.report(m.progress)
		pause = m.pauseAfter(err, pause)
		if !wait(ctx, pause) {
			return ctx.Err()
		}
	}
	return nil
}

// mendPart verifies some blocks and stores what differs together with how far the chain is proven now.
func (m *mender) mendPart(ctx context.Context, verifier order.Verifier, part blocks) error {
	position, _, err := m.store.checkpoint(ctx, m.chain)
	if err != nil {
		return err
	}
	came, err := m.verify(ctx, verifier, part, func(tx *store.Tx, found secondReading) error {
		if !found.correction.isEmpty() {
			if err := withdrawAnswers(ctx, tx, m.chain, position); err != nil {
				return err
			}
		}
		return joinProven(ctx, tx, m.chain, part)
	})
	if err != nil {
		return err
	}
	m.corrected(ctx, came.correction, came.orders)
	m.repair.Wrong = append(m.repair.Wrong, came.wrong...)
	slices.Sort(m.repair.Wrong)
	m.repair.Wrong = slices.Compact(m.repair.Wrong)
	count := part.to - part.from + 1
	m.repair.Blocks += count
	m.progress.Read += count
	m.progress.Events += uint64(len(came.correction.missing) + len(came.correction.wrong))
	m.progress.Err = nil
	m.report(m.progress)
	return nil
}

// joinProven adds a range to the proven blocks where it joins them. errMoved when a reorg has dropped a part of it.
func joinProven(ctx context.Context, tx *store.Tx, id chain.ID, r blocks) error {
	joined, err := tx.ExecContext(ctx, `UPDATE checkpoints SET
		proven_from = CASE WHEN $1 < proven_from AND $2 >= proven_from THEN $1 ELSE proven_from END,
		proven_end = CASE WHEN $1 <= proven_end AND $2 > proven_end THEN $2 ELSE proven_end END
		WHERE chain = $3 AND first_block <= $1 AND block + 1 >= $2`, int64(r.from), int64(r.to+1), int64(id))
	return changedOne(joined, err)
}
