package index

import (
	"errors"
	"slices"
	"sync"
	"time"

	"crossgate/chain"
	"crossgate/order"
)

// Lag is how far a chain's follower is behind its chain.
type Lag struct {
	Head        uint64    // newest block that the chain reported; 0 before the first answer
	Indexed     uint64    // newest block whose events are stored
	IndexedTime uint64    // its time, UNIX seconds
	Level       time.Time // when the store last held everything that the chain had; zero: not since the start
}

// HasBegun reports whether anything of the chain was read.
func (l Lag) HasBegun() bool { return l.IndexedTime != 0 || !l.Level.IsZero() }

// By returns how old the stored image of the chain is: what happened longer ago is in it.
func (l Lag) By(now time.Time) time.Duration {
	asOf := l.Level
	if indexed := time.Unix(int64(l.IndexedTime), 0); indexed.After(asOf) {
		asOf = indexed
	}
	return max(now.Sub(asOf), 0)
}

// syncState is how far a chain is read, and how that compares with the chain. Only the follower's goroutine moves it.
// What mu guards is read by others too, who have to see all of it as it was at one moment.
type syncState struct {
	mu       sync.Mutex
	position checkpoint
	hash     chain.Hash // of the block at position, as far as known
	begun    bool       // position is known
	heads
	doubt    doubt
	levelAt  time.Time          // when the store last held everything that the chain had
	every    time.Duration      // between looks at the head
	left     []QuarantinedBlock // that are left out, ascending
	headTime uint64             // of the newest block that was reported, UNIX seconds
	headAge  time.Duration      // how old that was then
	stopped  string             // why nothing is read until an operator decides; empty: it is
}

// moved takes note of the checkpoint and its block's hash, absent where the checkpoint was read from the store. It
// reports whether blocks were withdrawn since the checkpoint before.
func (s *syncState) moved(position checkpoint, hash chain.Hash) (withdrawn bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	withdrawn = s.begun && position.reorgs != s.position.reorgs
	if hash.IsAbsent() && !withdrawn && position.block == s.position.block {
		hash = s.hash
	}
	s.position, s.hash, s.begun = position, hash, true
	return withdrawn
}

// proved takes note of the block before which the chain is proven.
func (s *syncState) proved(end uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.position.provenEnd = end
}

// leaveOut takes note of the blocks that are left out, ascending: all of them.
func (s *syncState) leaveOut(list []QuarantinedBlock) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = list
}

// pace takes note of how long it is from one look at the head to the next.
func (s *syncState) pace(every time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.every = every
}

// reported takes note of the newest block that the chain reports, and reports whether it cannot be of one branch with
// the head before.
func (s *syncState) reported(newest order.Block) (contradicts bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heads.reported(newest.Hash)
	s.headTime, s.headAge = newest.Time, time.Since(time.Unix(int64(newest.Time), 0))
	return contradict(s.head, newest)
}

// overtaken takes note of a block that another replica has stored.
func (s *syncState) overtaken(block uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heads.overtaken(block)
}

// beginDoubt begins the doubt that lasts until blocks up to a number are read again, or prolongs it. It reports whether
// there was none.
func (s *syncState) beginDoubt(until uint64) (isNew bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.doubt.begin(until)
}

// contradicted takes note of a head that does not descend from the blocks which were read.
func (s *syncState) contradicted(head order.Head) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.compared(head)
}

// accept takes note of a head that descends from the blocks which were read.
func (s *syncState) accept(head order.Head) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.compared(head)
	s.stopped = ""
	if s.position.block >= s.doubt.until {
		s.doubt.end()
	}
}

// stop takes note of why nothing is read until an operator decides, and reports whether it was until now.
func (s *syncState) stop(cause string) (isNew bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	isNew, s.stopped = s.stopped == "", cause
	return isNew
}

// stoppedBy is why nothing is read of the chain until an operator decides; nil while it is.
func (s *syncState) stoppedBy() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped == "" {
		return nil
	}
	return errors.New(s.stopped)
}

// levelAsOf takes note that the store holds everything that the chain had when its head was asked for.
func (s *syncState) levelAsOf(asked time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.levelAt = asked
	s.doubt.end()
}

// end ends the epoch of the chain, since nobody looks for its next head any more.
func (s *syncState) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.epoch.End()
}

// basis is what an answer about the chain would be read from now, as far as it follows from what is known here. Whether
// the chain's blocks can be read a second time says what of it is proven, and life how old a head may be; 0: any age.
func (s *syncState) basis(isVerifiable bool, life time.Duration) ChainBasis {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := ChainBasis{
		Followed: true,
		Lag:      Lag{Head: s.newestNumber(), Indexed: s.position.block, IndexedTime: s.position.blockTime, Level: s.levelAt},
		From:     BlockTime{s.position.first, s.position.firstTime},
		Proven:   s.position.provenTo(s.finalized, isVerifiable),
		Hash:     s.hash,
		Epoch:    s.epoch,
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

// provenTo returns up to which block a chain is proven from the first block that was read on. What is final counts as
// proven where blocks cannot be read a second time.
func (c checkpoint) provenTo(finalized uint64, isVerifiable bool) uint64 {
	if !isVerifiable {
		return min(finalized, c.block)
	}
	if c.provenEnd > c.provenFrom && c.provenFrom <= c.first {
		return c.provenEnd - 1
	}
	return 0
}

// view is what was known of a chain when it was asked.
type view struct {
	reorgs uint64     // that were carried out
	head   chain.Hash // newest block that the chain reported
}

func (s *syncState) view() view {
	s.mu.Lock()
	defer s.mu.Unlock()
	return view{s.position.reorgs, s.newest}
}

// doubts returns what is closed when no block is in doubt any more, nil when none is.
func (s *syncState) doubts() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.doubt.over
}

func (s *syncState) wasLevel() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.position.wasLevel > 0 || !s.levelAt.IsZero()
}

// isFinal reports whether a block is known to be past any reorg.
func (s *syncState) isFinal(number uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return number <= s.finalized
}

// quietUntil returns until when no block after the head is to be expected, as far as announcements can be trusted.
func (s *syncState) quietUntil(announced *announcements) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return announced.quietUntil(s.head)
}

// covers reports whether the store holds all events of the chain since a time, UNIX seconds: following began before it,
// the follower was level with the chain's head just now, and no block is left out that may be newer.
func (s *syncState) covers(since uint64, announced *announcements) bool {
	const patience = 3 // looks that may be missed
	s.mu.Lock()
	defer s.mu.Unlock()
	every := s.every
	if time.Until(announced.quietUntil(s.head)) > 0 {
		every = max(every, announced.every)
	}
	leftOut := func(b QuarantinedBlock) bool { return b.notAfter >= since }
	return s.begun && !slices.ContainsFunc(s.left, leftOut) && (s.position.firstTime <= since || s.position.first == 0) &&
		s.doubt.over == nil && !s.levelAt.IsZero() && time.Since(s.levelAt) <= patience*every
}

// isCurrent reports whether a head was read and the newest stored block is no older than an age.
func (s *syncState) isCurrent(age time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.head.Number > 0 && time.Since(time.Unix(int64(s.position.blockTime), 0)) <= age
}
