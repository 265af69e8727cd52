package follow

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/ledger"
)

// State is how far a chain is read, and how that compares with the chain, at one moment.
type State struct {
	Position ledger.Checkpoint
	Head     order.Block   // that block, once it was compared with those that were read
	Level    time.Time     // when the store last held everything that the chain had
	Doubt    chan struct{} // closed when blocks that were read and are gone are withdrawn; nil when none is gone
	Stopped  error         // why nothing is read until an operator decides; nil: it is

	begun     bool         // the position is known
	newest    chain.Hash   // of the newest block that the chain reported
	hash      chain.Hash   // of the block at the position, as far as known
	epoch     *order.Epoch // since the newest block was reported
	finalized uint64       // newest block past any reorg
	seenTo    uint64       // newest block that another replica stored since the last head was read, where that is later; else 0
	headTime  uint64       // of the newest block that was reported, UNIX seconds
	headAge   time.Duration
	doubtedTo uint64                    // the doubt lasts until blocks up to here are read again
	every     time.Duration             // between looks at the head
	left      []ledger.QuarantinedBlock // that are left out, ascending
}

// state has the present State, which the follower's goroutine alone changes.
type state struct{ now atomic.Pointer[State] }

// State returns the chain's state now.
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

// moved takes note of the checkpoint and its block's hash, absent where the checkpoint was read from the store. It
// reports whether blocks were withdrawn since the checkpoint before.
func (s *state) moved(position ledger.Checkpoint, hash chain.Hash) (withdrawn bool) {
	s.update(func(is *State) {
		withdrawn = is.begun && position.Reorgs != is.Position.Reorgs
		if hash.IsAbsent() && !withdrawn && position.Block == is.Position.Block {
			hash = is.hash
		}
		is.Position, is.hash, is.begun = position, hash, true
	})
	return withdrawn
}

// accept takes note of a head that descends from the blocks which were read.
func (s *state) accept(head order.Head) {
	s.update(func(is *State) {
		is.compared(head)
		is.Stopped = nil
		if is.Position.Block >= is.doubtedTo {
			is.endDoubt()
		}
	})
}

// levelAsOf takes note that the store holds everything that the chain had when its head was asked for.
func (s *state) levelAsOf(asked time.Time) {
	s.update(func(is *State) {
		is.Level = asked
		is.endDoubt()
	})
}

// beginEpoch ends the one before: answers that rest on blocks which were not read end with it.
func (s *State) beginEpoch() {
	s.epoch.End()
	s.epoch = &order.Epoch{Began: time.Now()}
}

// newestNumber is the number of the newest block that is known of the chain; 0 before the first.
func (s *State) newestNumber() uint64 { return max(s.Head.Number, s.seenTo) }

// overtaken ends the epoch when a block is stored that is later than the newest that was seen here.
func (s *State) overtaken(block uint64) {
	if block > s.newestNumber() {
		s.seenTo = block
		s.beginEpoch()
	}
}

// compared takes note of a head that was compared with the blocks that were read.
func (s *State) compared(head order.Head) {
	s.Head, s.finalized, s.seenTo = head.Latest, head.Finalized, 0
}

func (s *State) endDoubt() { s.Doubt, s.doubtedTo = nil, 0 }

// IsFinal reports whether a block is known to be past any reorg.
func (s State) IsFinal(number uint64) bool { return number <= s.finalized }

// basis is that of an answer about the chain, as far as it follows from the state. The proven part depends on whether
// the chain's blocks can be read a second time; life is how old a head may be; 0: any age.
func (s State) basis(isVerifiable bool, life time.Duration) order.ChainBasis {
	b := order.ChainBasis{
		Followed: true,
		Lag:      order.Lag{Head: s.newestNumber(), Indexed: s.Position.Block, IndexedTime: s.Position.BlockTime, Level: s.Level},
		From:     order.BlockTime{Number: s.Position.First, Time: s.Position.FirstTime},
		Proven:   s.Position.ProvenTo(s.finalized, isVerifiable),
		Single:   s.Position.IsSingle(),
		Hash:     s.hash,
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

// HasRead reports whether the store holds all events of a block that is past any reorg.
func (f *Follower) HasRead(number uint64) bool {
	s := f.State()
	isLeft := func(b ledger.QuarantinedBlock) bool { return b.Number == number }
	return s.begun && s.Position.First <= number && number <= s.Position.Block && s.IsFinal(number) && !slices.ContainsFunc(s.left, isLeft)
}

// Covers reports whether the store holds all events of the chain since a time, UNIX seconds: following began before it,
// the follower was level with the chain's head just now, and no block is left out that may be newer.
func (f *Follower) Covers(since uint64) bool {
	const patience = 3 // looks that may be missed
	s := f.State()
	every := s.every
	if time.Until(f.announced.quietUntil(s.Head)) > 0 {
		every = max(every, f.announced.every)
	}
	leftOut := func(b ledger.QuarantinedBlock) bool { return b.NotAfter >= since }
	return s.begun && !slices.ContainsFunc(s.left, leftOut) && (s.Position.FirstTime <= since || s.Position.First == 0) &&
		s.Doubt == nil && !s.Level.IsZero() && time.Since(s.Level) <= patience*every
}

// readHead asks for the newest block. When it cannot follow the one before, or precede it, the chain is in doubt from
// here on. Whether one far ahead descends from the blocks which were read is not known before they were compared with
// its branch; settle does that.
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

// contradict reports whether two heads read one after the other cannot be of one branch.
func contradict(before, now order.Block) bool {
	switch {
	case before.Hash == chain.Hash{}:
		return false
	case now.Number == before.Number:
		return now.Hash != before.Hash
	case now.Number == before.Number+1:
		return now.Parent != before.Hash
	case now.Number+1 == before.Number: // an endpoint that is behind another one
		return now.Hash != before.Parent
	}
	return false
}

// doubtSince takes note of a head that does not descend from the blocks which were read. The doubt lasts until those up
// to a number are read again. The observer hears of it after the chain is in doubt and before any answer rests on the
// head: later questions are answered from the chain, or wait.
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
