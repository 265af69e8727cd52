package follow

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"crossgate/chain"
	"crossgate/order"
)

// Announcer calls announce with each head of a chain as soon as an endpoint reports it, by one connection, until ctx
// ends or the connection is lost. It returns why, without any secret.
type Announcer func(ctx context.Context, announce func(head order.Block)) error

// How long to wait after a connection was lost, and after those in a row that did not last.
const (
	announcerRetry        = time.Second
	longestAnnouncerRetry = 5 * time.Minute
	lasting               = time.Minute // a connection that announced heads for so long was a good one
)

// announcements are the heads that a chain's announcers reported. They are reasons to look at the chain, or not to look
// yet, and never evidence: blocks are read in the same way with and without them.
type announcements struct {
	chain  chain.ID
	logger *slog.Logger
	from   []Announcer   // asked while this replica follows the chain
	every  time.Duration // between two looks at a chain without new announcements
	trust  time.Duration // for which an announced head says that no later one is missing
	gained chan struct{} // holds a value when something was announced, or the last announcer has gone

	mu     sync.Mutex
	open   int         // connections by which a head was announced
	newest order.Block // announced since there is one
	at     time.Time   // when that was
}

// newAnnouncements trusts an announced head for three block times, and not less than five seconds.
func newAnnouncements(of chain.Chain, from []Announcer, every time.Duration, logger *slog.Logger) *announcements {
	return &announcements{
		chain: of.ID, logger: logger, from: from, every: every, trust: max(3*of.BlockTime, 5*time.Second),
		gained: make(chan struct{}, 1),
	}
}

// signal has the follower consider anew when to look.
func (a *announcements) signal() {
	select {
	case a.gained <- struct{}{}:
	default:
	}
}

// begin counts a connection that is going to announce its first head.
func (a *announcements) begin() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open++
}

// end counts it off. Announcements of the last one are forgotten.
func (a *announcements) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open--; a.open == 0 {
		a.newest, a.at = order.Block{}, time.Time{}
	}
	a.signal()
}

// add takes note of a head, unless a later one was announced.
func (a *announcements) add(head order.Block) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if head.Number < a.newest.Number || head == a.newest {
		return
	}
	a.newest, a.at = head, time.Now()
	a.signal()
}

// quietUntil returns until when nothing but head, the newest block that was read, is to be expected, as far as
// announcements can be trusted: zero without announcers, when those who do are behind, and when there is news.
func (a *announcements) quietUntil(head order.Block) time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open == 0 || a.newest.Number != head.Number || a.newest.Hash != head.Hash {
		return time.Time{}
	}
	return a.at.Add(a.trust)
}

// now is how many connections announce heads, and the newest number of those; zero where none does.
func (a *announcements) now() (connections int, newest uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.open, a.newest.Number
}

// listen has the chain's announcers announce its heads until stop, which returns when they have stopped.
func (a *announcements) listen(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var listening sync.WaitGroup
	for _, each := range a.from {
		listening.Go(func() { a.listenTo(ctx, each) })
	}
	return func() {
		cancel()
		listening.Wait()
	}
}

// listenTo connects again, after longer each time, when a connection was lost or cannot be made. Pauses differ, so
// that replicas do not come back together.
func (a *announcements) listenTo(ctx context.Context, announcer Announcer) {
	countAnnouncerLosses(ctx, a.chain, 0)
	pause := announcerRetry
	for {
		var announced time.Time // first
		err := announcer(ctx, func(head order.Block) {
			if announced.IsZero() {
				announced = time.Now()
				a.begin()
			}
			a.add(head)
		})
		if !announced.IsZero() {
			a.end()
			if time.Since(announced) >= lasting {
				pause = announcerRetry
			}
		}
		if ctx.Err() != nil {
			return
		}
		countAnnouncerLosses(ctx, a.chain, 1)
		jittered := pause + rand.N(pause/2)
		a.logger.WarnContext(ctx, "heads are not announced; asking for them instead", "error", err, "retry_in", jittered)
		if !order.Wait(ctx, jittered, nil) {
			return
		}
		pause = min(2*pause, longestAnnouncerRetry)
	}
}

// Announced is what endpoints report of a chain's heads unasked.
type Announced struct {
	Endpoints   int    // that are configured to
	Connections int    // of these that do; 0 also where another replica follows the chain
	Newest      uint64 // block that was announced; evidence of nothing
}

// Announced returns the chains whose endpoints are configured to announce heads.
func (c *Chains) Announced() map[chain.ID]Announced {
	all := make(map[chain.ID]Announced)
	for _, f := range c.Followers {
		if endpoints := len(f.announced.from); endpoints > 0 {
			connections, newest := f.announced.now()
			all[f.ID] = Announced{endpoints, connections, newest}
		}
	}
	return all
}
