package follow

import (
	"errors"
	"slices"
	"sync"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/ledger"
)

// syncState is how far a chain is read, and how that compares with the chain. Only the follower's goroutine moves it.
// What mu guards is read by others too, who have to see all of it as it was at one moment.
type syncState struct {
	Mu       sync.Mutex
	Position ledger.Checkpoint
	hash     chain.Hash // of the block at position, as far as known
	begun    bool       // position is known
	heads
	Doubt    doubt
	LevelAt  time.Time                 // when the store last held everything that the chain had
	every    time.Duration             // between looks at the head
	left     []ledger.QuarantinedBlock // that are left out, ascending
	headTime uint64                    // of the newest block that was reported, UNIX seconds
	headAge  time.Duration             // how old that was then
	stopped  string                    // why nothing is read until an operator decides; empty: it is
}

// moved takes note of the checkpoint and its block's hash, absent where the checkpoint was read from the store. It
// reports whether blocks were withdrawn since the checkpoint before.
func (s *syncState) moved(position ledger.Checkpoint, hash chain.Hash) (withdrawn bool) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	withdrawn = s.begun && position.Reorgs != s.Position.Reorgs
	if hash.IsAbsent() && !withdrawn && position.Block == s.Position.Block {
		hash = s.hash
	}
	s.Position, s.hash, s.begun = position, hash, true
	return withdrawn
}

// proved takes note of the block before which the chain is proven.
func (s *syncState) proved(end uint64) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.Position.ProvenEnd = end
}

// LeaveOut takes note of the blocks that are left out, ascending: all of them.
func (s *syncState) LeaveOut(list []ledger.QuarantinedBlock) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.left = list
}

// pace takes note of how long it is from one look at the head to the next.
func (s *syncState) pace(every time.Duration) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.every = every
}

// reported takes note of the newest block that the chain reports, and reports whether it cannot be of one branch with
// the head before.
func (s *syncState) reported(newest order.Block) (contradicts bool) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.heads.reported(newest.Hash)
	s.headTime, s.headAge = newest.Time, time.Since(time.Unix(int64(newest.Time), 0))
	return Contradict(s.Head, newest)
}

// Overtaken takes note of a block that another replica has stored.
func (s *syncState) Overtaken(block uint64) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.heads.overtaken(block)
}

// beginDoubt begins the doubt that lasts until blocks up to a number are read again, or prolongs it. It reports whether
// there was none.
func (s *syncState) beginDoubt(until uint64) (isNew bool) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.Doubt.begin(until)
}

// contradicted takes note of a head that does not descend from the blocks which were read.
func (s *syncState) contradicted(head order.Head) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.compared(head)
}

// Accept takes note of a head that descends from the blocks which were read.
func (s *syncState) Accept(head order.Head) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.compared(head)
	s.stopped = ""
	if s.Position.Block >= s.Doubt.until {
		s.Doubt.end()
	}
}

// stop takes note of why nothing is read until an operator decides, and reports whether it was until now.
func (s *syncState) stop(cause string) (isNew bool) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	isNew, s.stopped = s.stopped == "", cause
	return isNew
}

// Stopped is why nothing is read of the chain until an operator decides; nil while it is.
func (s *syncState) Stopped() error {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if s.stopped == "" {
		return nil
	}
	return errors.New(s.stopped)
}

// levelAsOf takes note that the store holds everything that the chain had when its head was asked for.
func (s *syncState) levelAsOf(asked time.Time) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.LevelAt = asked
	s.Doubt.end()
}

// end ends the epoch of the chain, since nobody looks for its next head any more.
func (s *syncState) end() {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.Epoch.End()
}

// basis is what an answer about the chain would be read from now, as far as it follows from what is known here. Whether
// the chain's blocks can be read a second time says what of it is proven, and life how old a head may be; 0: any age.
func (s *syncState) basis(isVerifiable bool, life time.Duration) order.ChainBasis {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	b := order.ChainBasis{
		Followed: true,
		Lag:      order.Lag{Head: s.newestNumber(), Indexed: s.Position.Block, IndexedTime: s.Position.BlockTime, Level: s.LevelAt},
		From:     order.BlockTime{Number: s.Position.First, Time: s.Position.FirstTime},
		Proven:   s.Position.ProvenTo(s.finalized, isVerifiable),
		Hash:     s.hash,
		Epoch:    s.Epoch,
		Stopped:  s.stopped,
	}
	if life > 0 && s.headAge > life {
		b.Stale = s.headTime
	}
	if b.Quarantined.Count = len(s.left); len(s.left) > 0 {
		b.Quarantined.First = s.left[0].Number
	}
	return b
}

// View is what was known of a chain when it was asked.
type View struct {
	Reorgs uint64     // that were carried out
	Head   chain.Hash // newest block that the chain reported
}

func (s *syncState) View() View {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return View{s.Position.Reorgs, s.newest}
}

// Doubts returns what is closed when no block is in doubt any more, nil when none is.
func (s *syncState) Doubts() <-chan struct{} {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.Doubt.Over
}

func (s *syncState) WasLevel() bool {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.Position.WasLevel > 0 || !s.LevelAt.IsZero()
}

// IsFinal reports whether a block is known to be past any reorg.
func (s *syncState) IsFinal(number uint64) bool {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return number <= s.finalized
}

// quietUntil returns until when no block after the head is to be expected, as far as announcements can be trusted.
func (s *syncState) quietUntil(announced *announcements) time.Time {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return announced.quietUntil(s.Head)
}

// covers reports whether the store holds all events of the chain since a time, UNIX seconds: following began before it,
// the follower was level with the chain's head just now, and no block is left out that may be newer.
func (s *syncState) covers(since uint64, announced *announcements) bool {
	const patience = 3 // looks that may be missed
	s.Mu.Lock()
	defer s.Mu.Unlock()
	every := s.every
	if time.Until(announced.quietUntil(s.Head)) > 0 {
		every = max(every, announced.every)
	}
	leftOut := func(b ledger.QuarantinedBlock) bool { return b.NotAfter >= since }
	return s.begun && !slices.ContainsFunc(s.left, leftOut) && (s.Position.FirstTime <= since || s.Position.First == 0) &&
		s.Doubt.Over == nil && !s.LevelAt.IsZero() && time.Since(s.LevelAt) <= patience*every
}

// isCurrent reports whether a head was read and the newest stored block is no older than an age.
func (s *syncState) isCurrent(age time.Duration) bool {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.Head.Number > 0 && time.Since(time.Unix(int64(s.Position.BlockTime), 0)) <= age
}
