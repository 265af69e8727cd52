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

// Follower keeps one chain's events in the store. Only its own goroutine changes it; other goroutines may use its
// State, and the fields and methods documented for them.
type Follower struct {
	*Reader
	Demand    *demand
	announced *announcements
	lookback  uint64
	width     Width

	state
	failure store.Failure

	Leading   atomic.Int64  // 1 if this replica follows the chain
	Unsettled atomic.Int64  // orders that differ from their state in the contracts
	Lacking   chan order.ID // orders that the chain has more events about than the store, to be compared out of turn
	lookedAt  time.Time     // when a watching replica last asked for the head
	last      look          // its last look that returned one
	passedOn  int64         // UNIX nanoseconds of the latest request that the replica that follows the chain knows of
}

func newFollower(db *store.DB, id chain.ID, source order.Source, o Options) *Follower {
	r := newReader(db, id, source, o)
	f := &Follower{
		Reader:    r,
		Demand:    newDemand(),
		Lacking:   make(chan order.ID, 1000), // further ones are compared in their turn
		announced: newAnnouncements(r.Chain.Chain, o.Announcers[id], o.Pace.Quiet, r.Logger),
		lookback:  o.Lookback,
		width:     NewWidth(o.Range),
	}
	f.passedOn = f.Demand.Orders.Load()
	f.now.Store(&State{epoch: new(order.Epoch), every: o.Pace.Asked})
	return f
}

// Run follows the chain until ctx ends whenever no other replica does; otherwise it watches the progress of that
// replica.
func (f *Follower) Run(ctx context.Context) {
	defer func() { f.State().epoch.End() }() // its next head is no longer looked for
	proof.CountCorrections(ctx, f.ID, 0)
	proof.CountFinalReorg(ctx, f.ID, 0)
	for {
		held, leads, err := f.Ledger.Claim(ctx, "follow "+f.ID.String())
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			f.note(ctx, err, store.LeaseInterval)
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

// WatchFor watches the chain while another replica follows it, until it is time to claim the lease again. It returns
// false if ctx has ended.
func (f *Follower) WatchFor(ctx context.Context) bool {
	if f.State().Doubt == nil && time.Since(f.lookedAt) < f.untilWatch() {
		f.watchStore(ctx)
	} else {
		f.Watch(ctx)
	}
	f.passDemandOn(ctx)
	pause := store.LeaseInterval
	if f.State().Doubt != nil {
		pause = f.Paces.Asked // the following replica is about to withdraw blocks
	}
	return order.Wait(ctx, pause, nil)
}

// Basis returns the basis of an answer about the chain that is read from now on.
func (f *Follower) Basis() order.ChainBasis {
	b := f.State().basis(f.HeadLife())
	b.Chain = f.ID
	if every := f.every(); every > f.Paces.Asked {
		b.Every = every
	}
	return b
}

// lead follows the chain until ctx ends or the lease is lost. After consecutive failures that stored nothing it waits
// longer each time, or for as long as an endpoint asked it to.
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
			// If another process moved the checkpoint, reading resumes there; an unavailable store fails fast.
			pause = f.Paces.Asked
			if err == nil {
				f.note(ctx, nil, 0)
			}
		default:
			if f.Basis().Indexed != before {
				pause = f.Paces.Asked
			}
			pause = f.PauseAfter(err, pause)
			if errors.As(err, new(*order.UnreadableError)) {
				pause = f.Paces.Asked // the block will soon be quarantined
			}
			f.note(ctx, err, pause)
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

// note logs why the chain is not followed, and that it is followed again.
func (f *Follower) note(ctx context.Context, err error, pause time.Duration) {
	f.failure.Log(ctx, f.Logger, err, "chain not followed", "chain followed again", "retry_in", pause)
}

// CatchUp reads everything that happened since the checkpoint, range by range.
func (f *Follower) CatchUp(ctx context.Context) error {
	err := f.catchUp(ctx)
	f.stopFor(ctx, err)
	return err
}

// stopFor records that the chain is not read because its endpoints contradict each other, until they agree or an
// operator decides.
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
	if known && f.moved(position) {
		f.Observer.BranchChanged(f.ID) // withdrawn by the replica that followed the chain before
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
	if settled := proof.SettledAt(head); position.WasLevel == 0 || settled > position.Settled {
		if err := f.Ledger.Level(ctx, f.Lease, f.ID, settled); err != nil {
			return err
		}
	}
	f.levelAsOf(asked)
	if err := f.prove(ctx, position, head); err != nil {
		return err
	}
	return unread
}

// begin reads the first block to index, and returns the checkpoint there.
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

// prove verifies the final blocks among those that were read. It pauses until the next poll once half the time until
// then is used up: blocks at a start take long to prove, and new ones must not wait.
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

// haste returns Promptly if each poll finds no more blocks than are read with evidence.
func (f *Follower) haste() proof.Haste {
	switch {
	case f.Demand.now() == Unasked:
		return proof.AtLeisure
	case f.every() <= f.Paces.Asked && (f.BlockTime == 0 || f.BlockTime*order.TipRange >= f.Paces.Asked):
		return proof.Promptly
	}
	return proof.InSlices
}

func (f *Follower) every() time.Duration { return f.Paces.Of(f.Chain.Chain, f.Demand.now()) }

// Settle compares the blocks that were read with the chain, newest first, and returns the newest one still on it, or
// where following began if there is none. If that is not the last one read, a reorg has dropped blocks, and the chain
// is in doubt until the blocks after it are read again. The chain is also in doubt if its head is before every block
// that it could be compared by.
func (f *Follower) Settle(ctx context.Context, position ledger.Checkpoint, head order.Head) (fork uint64, err error) {
	// Nothing is known of blocks beyond the head: the chain, or the endpoint that reported the head, is behind.
	below, dropped, oldest := head.Latest.Number+1, false, ledger.Block{}
	for {
		kept, found, err := f.KeptBefore(ctx, position, below)
		if err != nil {
			return 0, err
		}
		isBefore := !found && position.Block > head.Latest.Number || head.Latest.Number < position.Settled
		if isBefore && !dropped {
			f.doubtSince(head, position.Block)
			return 0, fmt.Errorf("chain is at block %d, before every stored block to compare it with; block %d was read", head.Latest.Number, position.Block)
		}
		if !found {
			below = position.First + 1
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
		return position.Block, nil
	}
	fork = below - 1
	if err := f.ConfirmReorg(ctx, position, oldest, fork); err != nil {
		return 0, err
	}
	proof.Count(ctx, f.ID, 1, "crossgate.index.reorgs", "Reorgs that dropped indexed blocks.")
	f.Logger.InfoContext(ctx, "reorg", "read_to", position.Block, "back_to", fork)
	return fork, nil
}

// canonical returns the hash of a block, and asks for the block only if the head does not contain its hash.
func (f *Follower) canonical(ctx context.Context, number uint64, head order.Head) (chain.Hash, error) {
	switch number {
	case head.Latest.Number:
		return head.Latest.Hash, nil
	case head.Latest.Number - 1:
		return head.Latest.Parent, nil
	}
	if head.Latest.Number > number && head.Latest.Number-number <= order.TipRange {
		// The next block has the hash and is read anyway.
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

func (f *Follower) apply(ctx context.Context, a ledger.Advance) error {
	if _, err := f.Reader.apply(ctx, a); err != nil {
		return err
	}
	return f.stored(ctx, a)
}

// stored updates the state after an advance was stored, including the blocks left out.
func (f *Follower) stored(ctx context.Context, a ledger.Advance) error {
	f.moved(a.Checkpoint)
	if len(a.Quarantined) == 0 {
		return nil
	}
	return f.learnQuarantined(ctx)
}

// learnQuarantined reads which blocks are left out; this or another process quarantined them.
func (f *Follower) learnQuarantined(ctx context.Context) error {
	list, err := f.Ledger.Quarantined(ctx, f.ID, ledger.Range{From: 0, To: math.MaxInt64})
	if err == nil {
		f.update(func(is *State) { is.left = list })
	}
	return err
}
