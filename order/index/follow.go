package index

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/store"
)

const maxBackoff = 30 * time.Second

// follower keeps one chain's events in the store. Only its own goroutine moves it; others read what its parts say may
// be read by them.
type follower struct {
	job
	paces     Pace
	demand    *demand
	announced *announcements
	lookback  uint64
	width     width
	readAhead chan struct{}  // shared by all followers
	unknown   *unknownChains // likewise

	sync       syncState
	quarantine quarantine
	prover     prover
	anchorage  anchorage
	failures   failureLog

	leading   atomic.Int64 // 1 while this replica follows the chain
	unsettled atomic.Int64 // orders that differ from what the contracts store
	lookedAt  time.Time    // when a replica that watches asked for the head
}

func newFollower(db *store.DB, id chain.ID, source order.Source, o Options) *follower {
	j := newJob(db, id, source, o)
	anchored, _ := source.(order.AnchoredSource)
	return &follower{
		job:       j,
		paces:     o.Pace,
		demand:    newDemand(),
		announced: newAnnouncements(j.facts, o.Announcers[id], o.Pace.Quiet, j.logger),
		lookback:  o.Lookback,
		width:     newWidth(o.Range),
		readAhead: o.readAhead,
		unknown:   o.unknown,

		sync:       syncState{heads: heads{epoch: new(Epoch)}, every: o.Pace.Asked},
		quarantine: quarantine{logger: j.logger, unreadable: make(map[uint64]int)},
		anchorage:  anchorage{source: anchored},
		prover:     prover{since: math.MaxUint64, at: time.Now(), liars: make(map[string]bool)},
		failures:   failureLog{logger: j.logger},
	}
}

// run follows the chain until ctx ends, whenever no other replica does; otherwise it watches how far that
// one has come.
func (f *follower) run(ctx context.Context) {
	defer f.sync.end()
	countCorrections(ctx, f.chain, 0)
	countFinalReorg(ctx, f.chain, 0)
	for {
		held, leads, err := f.store.Claim(ctx, "follow "+f.chain.String())
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			f.failures.failed(ctx, err, store.LeaseInterval)
			if !wait(ctx, store.LeaseInterval) {
				return
			}
			continue
		case leads:
			f.lead(ctx, held)
			continue
		}
		if !f.watchFor(ctx) {
			return
		}
	}
}

// watchFor watches the chain, which another replica follows, until the lease is to be claimed again. It returns false
// when ctx has ended.
func (f *follower) watchFor(ctx context.Context) bool {
	if f.sync.doubts() == nil && time.Since(f.lookedAt) < f.untilWatch() {
		f.watchStore(ctx)
	} else {
		f.watch(ctx)
	}
	pause := store.LeaseInterval
	if f.sync.doubts() != nil {
		pause = f.paces.Asked // the one that follows is about to withdraw blocks
	}
	return wait(ctx, pause)
}

// basis is what an answer about the chain would be read from now.
func (f *follower) basis() ChainBasis {
	_, isVerifiable := f.source.(order.Verifier)
	b := f.sync.basis(isVerifiable, f.facts.HeadLife())
	b.Chain = f.chain
	if every := f.paces.Of(f.facts, f.demand.now()); every > f.paces.Asked {
		b.Every = every
	}
	return b
}

// covers reports whether the store holds all events of the chain since a time, UNIX seconds.
func (f *follower) covers(since uint64) bool { return f.sync.covers(since, f.announced) }

// wait returns false when ctx has ended.
func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// lead follows the chain until ctx ends or the lease is lost. After failures in a row by which nothing was stored it
// waits longer each time, or for as long as those who were asked want.
func (f *follower) lead(ctx context.Context, held store.Lease) {
	leading, release := f.store.Hold(ctx, held)
	f.lease = held
	f.leading.Store(1)
	defer f.leading.Store(0)
	if f.store.IsReplicated() {
		f.logger.InfoContext(ctx, "this replica follows the chain", "replica", f.store.Replica())
		defer f.logger.InfoContext(ctx, "this replica follows the chain no more", "replica", f.store.Replica())
	}
	f.sync.pace(f.paces.Asked)
	stopListening := f.announced.listen(leading)
	defer stopListening()
	pause := f.paces.Asked
	for {
		before, begun := f.basis().Indexed, time.Now()
		err := f.catchUp(leading)
		switch {
		case leading.Err() != nil || err == nil || errors.Is(err, errMoved) || errors.Is(err, store.ErrUnavailable):
			// Where another process moved the checkpoint, reading begins there; a store that is unavailable says so at
			// once.
			pause = f.paces.Asked
			if err == nil {
				f.failures.recovered(ctx)
			}
		default:
			if f.basis().Indexed != before {
				pause = f.paces.Asked
			}
			pause = f.pauseAfter(err, pause)
			if errors.As(err, new(*order.UnreadableError)) {
				pause = f.paces.Asked // soon the block is left out
			}
			f.failures.failed(ctx, err, pause)
		}
		if errors.Is(err, store.ErrLeaseLost) {
			break
		}
		if err == nil && !f.waitForNews(leading, begun) || err != nil && !wait(leading, pause) {
			break
		}
	}
	if err := release(); err != nil && !errors.Is(err, store.ErrUnavailable) {
		f.logger.WarnContext(ctx, "lease not released; other replicas wait until it expires", "error", err)
	}
}

// pauseAfter is how long to wait after a failure that followed a pause.
func (f *follower) pauseAfter(err error, pause time.Duration) time.Duration {
	longest := max(maxBackoff, f.paces.Asked)
	if asked, is := errors.AsType[interface {
		error
		RetryIn() time.Duration
	}](err); is && asked.RetryIn() > 0 {
		return min(max(asked.RetryIn(), f.paces.Asked), longest)
	}
	return min(2*pause, longest)
}

// catchUp reads what happened since the checkpoint, range by range.
func (f *follower) catchUp(ctx context.Context) error {
	position, known, err := f.store.checkpoint(ctx, f.chain)
	if err != nil {
		return err
	}
	if known && f.sync.moved(position, chain.Hash{}) {
		f.observer.BranchChanged(f.chain) // withdrawn by the replica that followed the chain until now
	}
	if err := f.learnQuarantined(ctx); err != nil {
		return err
	}
	if err := f.hold(ctx, position); err != nil {
		return err
	}
	asked := time.Now()
	head, err := f.readHead(ctx)
	if errors.Is(err, order.ErrOtherBranch) {
		f.stop(ctx, err)
	}
	if err != nil {
		return fmt.Errorf("read head: %w", err)
	}
	if err := f.firstAnchor(ctx, head); err != nil {
		return err
	}
	if !known {
		if position, err = f.begin(ctx, head); err != nil {
			return err
		}
	}
	f.prover.begin(position)
	fork, err := f.settle(ctx, position, head)
	if err != nil {
		return err
	}
	if position, err = f.readOn(ctx, position, fork, head); err != nil {
		return err
	}
	if position.wasLevel == 0 {
		if err := f.store.level(ctx, f.lease, f.chain); err != nil {
			return err
		}
	}
	f.sync.levelAsOf(asked)
	if err := f.prove(ctx, position, head); err != nil {
		return err
	}
	return f.retryQuarantined(ctx)
}

// begin reads the first block that is to be read, and returns the checkpoint there.
func (f *follower) begin(ctx context.Context, head order.Head) (checkpoint, error) {
	var first uint64
	if f.lookback > 0 && head.Latest.Number > f.lookback {
		first = min(head.Latest.Number-f.lookback, head.Finalized)
	}
	return f.beginAt(ctx, first, head)
}

// beginAt stores the block where following begins, so that the checkpoint is a block that was read.
func (f *follower) beginAt(ctx context.Context, number uint64, head order.Head) (checkpoint, error) {
	first, err := f.source.Block(ctx, number)
	if err != nil {
		return checkpoint{}, fmt.Errorf("read first block %d: %w", number, err)
	}
	number = first.Number // another where the chain has left that one out, or nodes have dropped it
	events, quarantined, err := f.quarantine.eventsOf(ctx, blocks{number, number}, f.source.Events)
	if err != nil {
		return checkpoint{}, fmt.Errorf("read events of block %d: %w", number, err)
	}
	begun := checkpoint{
		first: number, firstTime: first.Time, block: number, blockTime: first.Time, provenFrom: number, provenEnd: number,
	}
	return begun, f.apply(ctx, advance{
		from: number, events: events, blocks: droppable(events, keptBlock{number, first.Hash}, settledAt(head)),
		finalized: head.Finalized, settled: settledAt(head), quarantined: quarantined, begins: true, checkpoint: begun,
	})
}

// settle compares the blocks that were read with the chain, newest first, and returns the newest that is still there:
// where following began when none is. When it is not the last one that was read, a reorg has dropped blocks, and the
// chain is in doubt until those after it are read again. It is in doubt as well where the chain is behind every block
// that it could be compared by.
func (f *follower) settle(ctx context.Context, position checkpoint, head order.Head) (fork uint64, err error) {
	// Nothing is known of blocks beyond the head: the chain, or the endpoint that reported the head, is behind.
	below, dropped, oldest := head.Latest.Number+1, false, keptBlock{}
	for {
		kept, found, err := f.keptBefore(ctx, position, below)
		if err != nil {
			return 0, err
		}
		isBefore := !found && position.block > head.Latest.Number || head.Latest.Number < f.anchorage.settled
		if isBefore && !dropped {
			f.doubtSince(head, position.block)
			return 0, fmt.Errorf("chain is at block %d, before every block that it could be compared by; %d was read", head.Latest.Number, position.block)
		}
		if !found {
			if dropped {
				if below, err = f.backToAnchor(ctx, position, head, oldest); err != nil {
					return 0, err
				}
			}
			below = max(below, position.first) + 1
			break
		}
		hash, err := f.canonical(ctx, kept.number, head)
		if err != nil {
			return 0, err
		}
		if hash == kept.hash {
			below = kept.number + 1
			break
		}
		below, dropped, oldest = kept.number, true, kept
		f.doubtSince(head, min(position.block, head.Latest.Number))
	}
	if !dropped {
		f.sync.accept(head)
		f.anchorage.settled = max(f.anchorage.settled, settledAt(head))
		return position.block, nil
	}
	countReorg(ctx, f.chain)
	fork = max(below, position.first+1) - 1
	f.logger.InfoContext(ctx, "reorg", "read_to", position.block, "back_to", fork)
	return fork, nil
}

// canonical returns the hash of a block without asking for one that the head names.
func (f *follower) canonical(ctx context.Context, number uint64, head order.Head) (chain.Hash, error) {
	switch number {
	case head.Latest.Number:
		return head.Latest.Hash, nil
	case head.Latest.Number - 1:
		return head.Latest.Parent, nil
	}
	if head.Latest.Number > number && head.Latest.Number-number <= order.TipRange {
		// The next block names it, and is read anyway.
		if next, err := f.source.Block(ctx, number+1); err == nil && next.Number == number+1 {
			return next.Parent, nil
		}
	}
	block, err := f.source.Block(ctx, number)
	if err != nil {
		return chain.Hash{}, fmt.Errorf("read block %d: %w", number, err)
	}
	return block.Hash, nil
}

// rewind goes back to a block, to read on from there: what later ones said is withdrawn at once.
func (f *follower) rewind(ctx context.Context, position checkpoint, number uint64, head order.Head) (checkpoint, error) {
	block, err := f.source.Block(ctx, number)
	if err != nil {
		return position, fmt.Errorf("read block %d: %w", number, err)
	}
	back := position
	back.block, back.blockTime = number, block.Time
	back.reorgs++
	back.provenEnd = min(back.provenEnd, number+1)
	f.anchorage.until = 0
	changes, err := f.store.rewind(ctx, f.lease, f.chain, position, back)
	if err != nil {
		return checkpoint{}, err
	}
	f.report(changes)
	f.sync.moved(back, block.Hash)
	f.sync.accept(head)
	return back, nil
}

// apply stores what was read and moves on.
func (f *follower) apply(ctx context.Context, a advance) error {
	a.chain, a.lease = f.chain, f.lease
	changes, err := f.store.apply(ctx, a)
	if err != nil {
		return err
	}
	f.report(changes)
	f.unknown.see(a.events)
	f.sync.moved(a.checkpoint, a.blocks[0].hash)
	if len(a.quarantined) > 0 {
		return f.learnQuarantined(ctx)
	}
	return nil
}

// droppable lists the blocks to recognise a reorg by: the last one read, and those that hold events.
func droppable(events []order.Event, last keptBlock, settled uint64) []keptBlock {
	kept := []keptBlock{last}
	for _, e := range events {
		if each := (keptBlock{e.At.Block, e.At.BlockHash}); e.At.Block >= settled && each != kept[len(kept)-1] {
			kept = append(kept, each)
		}
	}
	return kept
}
