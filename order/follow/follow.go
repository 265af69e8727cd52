package follow

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/ledger"
	"crossgate/order/proof"
	"crossgate/store"
)

// Follower keeps one chain's events in the store. Only its own goroutine moves it; others read what its parts say may
// be read by them.
type Follower struct {
	*Reader
	Demand    *demand
	announced *announcements
	lookback  uint64
	width     Width

	state
	failures failureLog

	Leading   atomic.Int64 // 1 while this replica follows the chain
	Unsettled atomic.Int64 // orders that differ from what the contracts store
	Lacking   lacking
	lookedAt  time.Time // when a replica that watches asked for the head
}

func newFollower(db *store.DB, id chain.ID, source order.Source, o Options) *Follower {
	r := newReader(db, id, source, o)
	f := &Follower{
		Reader:    r,
		Demand:    newDemand(),
		announced: newAnnouncements(r.Chain.Chain, o.Announcers[id], o.Pace.Quiet, r.Logger),
		lookback:  o.Lookback,
		width:     NewWidth(o.Range),

		failures: failureLog{logger: r.Logger},
	}
	f.now.Store(&State{epoch: new(order.Epoch), every: o.Pace.Asked})
	return f
}

// Run follows the chain until ctx ends, whenever no other replica does; otherwise it watches how far that
// one has come.
func (f *Follower) Run(ctx context.Context) {
	defer func() { f.State().epoch.End() }() // its next head is not looked for any more
	proof.CountCorrections(ctx, f.ID, 0)
	proof.CountFinalReorg(ctx, f.ID, 0)
	for {
		held, leads, err := f.Ledger.Claim(ctx, "follow "+f.ID.String())
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			f.failures.failed(ctx, err, store.LeaseInterval)
			if !order.Wait(ctx, store.LeaseInterval, nil) {
				return
			}
			continue
		case leads:
			f.lead(ctx, held)
			continue
		}
		if !f.WatchFor(ctx) {
			return
		}
	}
}

// WatchFor watches the chain, which another replica follows, until the lease is to be claimed again. It returns false
// when ctx has ended.
func (f *Follower) WatchFor(ctx context.Context) bool {
	if f.State().Doubt == nil && time.Since(f.lookedAt) < f.untilWatch() {
		f.watchStore(ctx)
	} else {
		f.Watch(ctx)
	}
	pause := store.LeaseInterval
	if f.State().Doubt != nil {
		pause = f.Paces.Asked // the one that follows is about to withdraw blocks
	}
	return order.Wait(ctx, pause, nil)
}

// Basis is what an answer about the chain would be read from now.
func (f *Follower) Basis() order.ChainBasis {
	_, isVerifiable := f.Verifier()
	b := f.State().basis(isVerifiable, f.HeadLife())
	b.Chain = f.ID
	if every := f.every(); every > f.Paces.Asked {
		b.Every = every
	}
	return b
}

// lead follows the chain until ctx ends or the lease is lost. After failures in a row by which nothing was stored it
// waits longer each time, or for as long as those who were asked want.
func (f *Follower) lead(ctx context.Context, held store.Lease) {
	leading, release := f.Ledger.Hold(ctx, held)
	f.Lease = held
	f.Leading.Store(1)
	defer f.Leading.Store(0)
	if f.Ledger.IsReplicated() {
		f.Logger.InfoContext(ctx, "replica follows the chain", "replica", f.Ledger.Replica())
		defer f.Logger.InfoContext(ctx, "replica stopped following the chain", "replica", f.Ledger.Replica())
	}
	f.update(func(is *State) { is.every = f.Paces.Asked })
	stopListening := f.announced.listen(leading)
	defer stopListening()
	pause := f.Paces.Asked
	for {
		before, begun := f.Basis().Indexed, time.Now()
		err := f.CatchUp(leading)
		switch {
		case leading.Err() != nil || err == nil || errors.Is(err, ledger.ErrMoved) || errors.Is(err, store.ErrUnavailable):
			// Where another process moved the checkpoint, reading begins there; a store that is unavailable says so at
			// once.
			pause = f.Paces.Asked
			if err == nil {
				f.failures.recovered(ctx)
			}
		default:
			if f.Basis().Indexed != before {
				pause = f.Paces.Asked
			}
			pause = f.PauseAfter(err, pause)
			if errors.As(err, new(*order.UnreadableError)) {
				pause = f.Paces.Asked // soon the block is left out
			}
			f.failures.failed(ctx, err, pause)
		}
		if errors.Is(err, store.ErrLeaseLost) {
			break
		}
		if err == nil && !f.waitForNews(leading, begun) || err != nil && !order.Wait(leading, pause, nil) {
			break
		}
	}
	if err := release(); err != nil && !errors.Is(err, store.ErrUnavailable) {
		f.Logger.WarnContext(ctx, "lease not released; other replicas wait until it expires", "error", err)
	}
}

// CatchUp reads what happened since the checkpoint, range by range.
func (f *Follower) CatchUp(ctx context.Context) error {
	err := f.catchUp(ctx)
	f.stopFor(ctx, err)
	return err
}

// stopFor takes note that nothing is read of the chain while its endpoints contradict each other: until an operator
// decides, or they say something else.
func (f *Follower) stopFor(ctx context.Context, err error) {
	if !errors.Is(err, order.ErrOtherBranch) && !errors.As(err, new(*proof.Contradiction)) {
		return
	}
	isNew := f.State().Stopped == nil
	f.update(func(is *State) { is.Stopped = err })
	if isNew {
		f.Logger.ErrorContext(ctx, "chain stopped: endpoints contradict final blocks; take the wrong endpoints out of use, "+
			"or withdraw the blocks by crossgate index withdraw", "error", err)
	}
}

func (f *Follower) catchUp(ctx context.Context) error {
	position, known, err := f.Ledger.Checkpoint(ctx, f.ID)
	if err != nil {
		return err
	}
	if known && f.moved(position, chain.Hash{}) {
		f.Observer.BranchChanged(f.ID) // withdrawn by the replica that followed the chain until now
	}
	if err := f.Hold(ctx, position); err != nil {
		return err
	}
	asked := time.Now()
	head, err := f.readHead(ctx)
	if err != nil {
		return fmt.Errorf("read head: %w", err)
	}
	if err := f.FirstAnchor(ctx, head); err != nil {
		return err
	}
	if !known {
		if position, err = f.begin(ctx, head); err != nil {
			return err
		}
	}
	f.Begin(position)
	fork, err := f.Settle(ctx, position, head)
	if err != nil {
		return err
	}
	if position, err = f.ReadOn(ctx, position, fork, head); err != nil {
		return err
	}
	changes, unread := f.RetryQuarantined(ctx)
	f.Report(changes)
	if err := f.learnQuarantined(ctx); err != nil {
		return err
	}
	if position.WasLevel == 0 {
		if err := f.Ledger.Level(ctx, f.Lease, f.ID); err != nil {
			return err
		}
	}
	f.levelAsOf(asked)
	if err := f.prove(ctx, position, head); err != nil {
		return err
	}
	return unread
}

// begin reads the first block that is to be read, and returns the checkpoint there.
func (f *Follower) begin(ctx context.Context, head order.Head) (ledger.Checkpoint, error) {
	var first uint64
	if f.lookback > 0 && head.Latest.Number > f.lookback {
		first = min(head.Latest.Number-f.lookback, head.Finalized)
	}
	begun, err := f.BeginAt(ctx, first, head)
	if err == nil {
		err = f.stored(ctx, begun)
	}
	return begun.Checkpoint, err
}

// prove has the final ones of the blocks that were read verified. It goes on at the next look when half the time to it
// has gone: the blocks of a start take long to prove, and new ones must not wait.
func (f *Follower) prove(ctx context.Context, position ledger.Checkpoint, head order.Head) error {
	for begun := time.Now(); time.Since(begun) <= f.every()/2; {
		came, isDue, err := f.ProveNext(ctx, position, head, f.haste(), f.width.Now)
		if err != nil || !isDue {
			return err
		}
		f.Report(came.Changes)
		position.ProvenEnd, position.SingleFrom = came.End, came.SingleFrom
		f.update(func(is *State) { is.Position.ProvenEnd, is.Position.SingleFrom = came.End, came.SingleFrom })
	}
	return nil
}

// haste is prompt where each look brings no more blocks than are read with evidence.
func (f *Follower) haste() proof.Haste {
	switch {
	case f.Demand.now() == Unasked:
		return proof.AtLeisure
	case f.every() <= f.Paces.Asked && (f.BlockTime == 0 || f.BlockTime*order.TipRange >= f.Paces.Asked):
		return proof.Promptly
	}
	return proof.InSlices
}

// every is how long to wait between two looks.
func (f *Follower) every() time.Duration { return f.Paces.Of(f.Chain.Chain, f.Demand.now()) }

// Settle compares the blocks that were read with the chain, newest first, and returns the newest that is still there:
// where following began when none is. When it is not the last one that was read, a reorg has dropped blocks, and the
// chain is in doubt until those after it are read again. It is in doubt as well where the chain is behind every block
// that it could be compared by.
func (f *Follower) Settle(ctx context.Context, position ledger.Checkpoint, head order.Head) (fork uint64, err error) {
	// Nothing is known of blocks beyond the head: the chain, or the endpoint that reported the head, is behind.
	below, dropped, oldest := head.Latest.Number+1, false, ledger.Block{}
	for {
		kept, found, err := f.KeptBefore(ctx, position, below)
		if err != nil {
			return 0, err
		}
		isBefore := !found && position.Block > head.Latest.Number || head.Latest.Number < f.SettledTo
		if isBefore && !dropped {
			f.doubtSince(head, position.Block)
			return 0, fmt.Errorf("chain is at block %d, before every block that it could be compared by; %d was read", head.Latest.Number, position.Block)
		}
		if !found {
			if dropped {
				if below, err = f.BackToAnchor(ctx, position, head, oldest); err != nil {
					return 0, err
				}
			}
			below = max(below, position.First) + 1
			break
		}
		hash, err := f.canonical(ctx, kept.Number, head)
		if err != nil {
			return 0, err
		}
		if hash == kept.Hash {
			below = kept.Number + 1
			break
		}
		below, dropped, oldest = kept.Number, true, kept
		f.doubtSince(head, min(position.Block, head.Latest.Number))
	}
	if !dropped {
		f.accept(head)
		f.SettledTo = max(f.SettledTo, proof.SettledAt(head))
		return position.Block, nil
	}
	proof.Count(ctx, f.ID, 1, "crossgate.index.reorgs", "Reorgs that dropped blocks which had been indexed.")
	fork = max(below, position.First+1) - 1
	f.Logger.InfoContext(ctx, "reorg", "read_to", position.Block, "back_to", fork)
	return fork, nil
}

// canonical returns the hash of a block without asking for one that the head names.
func (f *Follower) canonical(ctx context.Context, number uint64, head order.Head) (chain.Hash, error) {
	switch number {
	case head.Latest.Number:
		return head.Latest.Hash, nil
	case head.Latest.Number - 1:
		return head.Latest.Parent, nil
	}
	if head.Latest.Number > number && head.Latest.Number-number <= order.TipRange {
		// The next block names it, and is read anyway.
		if next, err := f.Source.Block(ctx, number+1); err == nil && next.Number == number+1 {
			return next.Parent, nil
		}
	}
	block, err := f.Source.Block(ctx, number)
	if err != nil {
		return chain.Hash{}, fmt.Errorf("read block %d: %w", number, err)
	}
	return block.Hash, nil
}

// apply stores an advance and moves on.
func (f *Follower) apply(ctx context.Context, a ledger.Advance) error {
	if _, err := f.Reader.apply(ctx, a); err != nil {
		return err
	}
	return f.stored(ctx, a)
}

// stored moves the state to a stored advance, and learns the blocks that it left out.
func (f *Follower) stored(ctx context.Context, a ledger.Advance) error {
	f.moved(a.Checkpoint, a.Blocks[0].Hash)
	if len(a.Quarantined) == 0 {
		return nil
	}
	return f.learnQuarantined(ctx)
}

// learnQuarantined reads which blocks are left out: this process or another one has quarantined them.
func (f *Follower) learnQuarantined(ctx context.Context) error {
	list, err := f.Ledger.Quarantined(ctx, f.ID, ledger.Range{From: 0, To: math.MaxInt64})
	if err == nil {
		f.update(func(is *State) { is.left = list })
	}
	return err
}
