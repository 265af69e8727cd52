package follow

import (
	"context"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/ledger"
)

// State is how far a chain was read, and how that compares with the chain, at one moment.
type State struct {
	Position ledger.Checkpoint
	Head     order.Block   // newest head that was compared with the blocks that were read
	Level    time.Time     // when the store last held everything that the chain had
	Doubt    chan struct{} // closed when dropped blocks are withdrawn; nil if no read block was dropped
	Stopped  error         // why the chain is not read until an operator decides; nil: it is read

	begun     bool         // the position is known
	newest    chain.Hash   // hash of the newest block that the chain reported
	epoch     *order.Epoch // began when the newest block was reported
	finalized uint64       // newest block that no reorg can drop
	seenTo    uint64       // newest block stored by another replica since the last head was read, if later; else 0
	headTime  uint64       // time of the newest block reported, UNIX seconds
	headAge   time.Duration
	doubtedTo uint64                    // block up to which blocks must be read again to end the doubt
	every     time.Duration             // polling interval of the head
	left      []ledger.QuarantinedBlock // blocks left out, ascending
}

// state holds the current State. Only the follower's goroutine changes it.
type state struct{ now atomic.Pointer[State] }

// State returns the chain's current state.
func (s *state) State() State { return *s.now.Load() }

func (s *state) update(change func(*State)) {
	was := s.State()
	is := was
	change(&is)
	s.now.Store(&is)
	if was.Doubt != nil && is.Doubt == nil {
		close(was.Doubt)
	}
}

// moved records the checkpoint, and reports whether blocks were withdrawn since the previous one.
func (s *state) moved(position ledger.Checkpoint) (withdrawn bool) {
	s.update(func(is *State) {
		withdrawn = is.begun && position.Reorgs != is.Position.Reorgs
		is.Position, is.begun = position, true
	})
	return withdrawn
}

// accept records a head that descends from the blocks that were read.
func (s *state) accept(head order.Head) {
	s.update(func(is *State) {
		is.compared(head)
		is.Stopped = nil
		if is.Position.Block >= is.doubtedTo {
			is.endDoubt()
		}
	})
}

// levelAsOf records that the store holds everything that the chain had when its head was requested.
func (s *state) levelAsOf(asked time.Time) {
	s.update(func(is *State) {
		is.Level = asked
		is.endDoubt()
	})
}

// beginEpoch starts a new epoch: answers that rest on unread blocks expire with the previous one.
func (s *State) beginEpoch() {
	s.epoch.End()
	s.epoch = &order.Epoch{Began: time.Now()}
}

// newestNumber returns the number of the chain's newest known block; 0 if there is none yet.
func (s *State) newestNumber() uint64 { return max(s.Head.Number, s.seenTo) }

// overtaken starts a new epoch if a stored block is later than the newest seen here.
func (s *State) overtaken(block uint64) {
	if block > s.newestNumber() {
		s.seenTo = block
		s.beginEpoch()
	}
}

// compared records a head that was compared with the blocks that were read.
func (s *State) compared(head order.Head) {
	s.Head, s.finalized, s.seenTo = head.Latest, head.Finalized, 0
}

func (s *State) endDoubt() { s.Doubt, s.doubtedTo = nil, 0 }

// IsFinal reports whether a block is known to be safe from reorgs.
func (s State) IsFinal(number uint64) bool { return number <= s.finalized }

// basis returns the basis of an answer about the chain, as far as the state determines it. life is how old a head may
// be; 0: any age.
func (s State) basis(life time.Duration) order.ChainBasis {
	b := order.ChainBasis{
		Followed: true,
		Lag:      order.Lag{Head: s.newestNumber(), Indexed: s.Position.Block, IndexedTime: s.Position.BlockTime, Level: s.Level},
		From:     order.BlockTime{Number: s.Position.First, Time: s.Position.FirstTime},
		Proven:   s.Position.ProvenTo(),
		Single:   s.Position.IsSingle(),
		Epoch:    s.epoch,
	}
	if s.Stopped != nil {
		b.Stopped = s.Stopped.Error()
	}
	if life > 0 && s.headAge > life {
		b.Stale = s.headTime
	}
	if b.Quarantined.Count = len(s.left); len(s.left) > 0 {
		b.Quarantined.First = s.left[0].Number
	}
	return b
}

// HasRead reports whether the store holds all events of a block that no reorg can drop.
func (f *Follower) HasRead(number uint64) bool {
	s := f.State()
	isLeft := func(b ledger.QuarantinedBlock) bool { return b.Number == number }
	return s.begun && s.Position.First <= number && number <= s.Position.Block && s.IsFinal(number) && !slices.ContainsFunc(s.left, isLeft)
}

// Covers reports whether the store holds all events of the chain since a time, UNIX seconds: following began before it,
// the follower was recently level with the head, and no block is left out that may be newer.
func (f *Follower) Covers(since uint64) bool {
	const patience = 3 // polls that may be missed
	s := f.State()
	every := s.every
	if time.Until(f.announced.quietUntil(s.Head)) > 0 {
		every = max(every, f.announced.every)
	}
	return s.begun && !s.Lacks(since, math.MaxUint64) && s.Doubt == nil && !s.Level.IsZero() && time.Since(s.Level) <= patience*every
}

// Lacks reports whether the store is known to lack blocks of the chain from a time, UNIX seconds, up to a block:
// following began later, or some of them are left out.
func (s State) Lacks(since, to uint64) bool {
	isLeft := func(b ledger.QuarantinedBlock) bool { return b.NotAfter >= since && b.Number <= to }
	return s.Position.First > 0 && s.Position.FirstTime > since || slices.ContainsFunc(s.left, isLeft)
}

// readHead asks for the newest block. If that can neither follow nor precede the one before, the chain is in doubt from
// now on. Whether a head further ahead descends from the blocks that were read is only known once Settle has compared
// them with its branch.
func (f *Follower) readHead(ctx context.Context) (order.Head, error) {
	head, err := f.Source.Head(ctx)
	if err != nil {
		return order.Head{}, err
	}
	newest := head.Latest
	f.update(func(is *State) {
		if is.newest != newest.Hash {
			is.newest = newest.Hash
			is.beginEpoch()
		}
		is.headTime, is.headAge = newest.Time, time.Since(time.Unix(int64(newest.Time), 0))
	})
	if contradict(f.State().Head, newest) {
		f.doubtSince(head, 0)
	}
	return head, nil
}

// contradict reports whether two consecutively read heads cannot be on one branch.
func contradict(before, now order.Block) bool {
	switch {
	case before.Hash == chain.Hash{}:
		return false
	case now.Number == before.Number:
		return now.Hash != before.Hash
	case now.Number == before.Number+1:
		return now.Parent != before.Hash
	case now.Number+1 == before.Number: // from an endpoint that is behind another one
		return now.Hash != before.Parent
	}
	return false
}

// doubtSince records a head that does not descend from the blocks that were read. The doubt lasts until blocks up to
// until are read again. The observer is notified once the chain is in doubt, before any answer rests on the head: later
// requests are answered from the chain, or wait.
func (f *Follower) doubtSince(head order.Head, until uint64) {
	isNew := f.State().Doubt == nil
	f.update(func(is *State) {
		if isNew {
			is.Doubt = make(chan struct{})
		}
		is.doubtedTo = max(is.doubtedTo, until)
	})
	if isNew || until == 0 {
		f.Observer.BranchChanged(f.ID)
	}
	f.update(func(is *State) { is.compared(head) })
}
