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

// Announcer calls announce with each new head of a chain that an endpoint reports over one connection. It returns when
// ctx ends or the connection is lost, with the reason, free of secrets.
type Announcer func(ctx context.Context, announce func(head order.Block)) error

// Pauses before reconnecting: after a lost connection, and after several in a row that did not last.
const (
	announcerRetry        = time.Second
	longestAnnouncerRetry = 5 * time.Minute
	lasting               = time.Minute // a connection that announced heads for this long was a good one
)

// announcements are the heads that a chain's announcers reported. They are reasons to poll the chain, or not to poll it
// yet, but never evidence: blocks are read the same way with and without them.
type announcements struct {
	chain  chain.ID
	logger *slog.Logger
	from   []Announcer   // run while this replica follows the chain
	every  time.Duration // polling interval without new announcements
	trust  time.Duration // how long an announced head is taken to mean that no later one is missing
	gained chan struct{} // holds a value after an announcement, or when the last announcer has gone

	mu     sync.Mutex
	open   int         // connections that have announced a head
	newest order.Block // newest announced head while connections are open
	at     time.Time   // time of that announcement
}

// newAnnouncements returns announcements that trust a head for three block times, but at least five seconds.
func newAnnouncements(of chain.Chain, from []Announcer, every time.Duration, logger *slog.Logger) *announcements {
	return &announcements{
		chain: of.ID, logger: logger, from: from, every: every, trust: max(3*of.BlockTime, 5*time.Second),
		gained: make(chan struct{}, 1),
	}
}

// signal makes the follower reconsider when to poll.
func (a *announcements) signal() {
	select {
	case a.gained <- struct{}{}:
	default:
	}
}

// begin counts a connection that is about to announce its first head.
func (a *announcements) begin() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open++
}

// end discounts a connection. With the last one, announcements are forgotten.
func (a *announcements) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open--; a.open == 0 {
		a.newest, a.at = order.Block{}, time.Time{}
	}
	a.signal()
}

// add records a head, unless a later one was announced.
func (a *announcements) add(head order.Block) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if head.Number < a.newest.Number || head == a.newest {
		return
	}
	a.newest, a.at = head, time.Now()
	a.signal()
}

// quietUntil returns until when no newer head than the given one, the newest that was read, is expected if
// announcements are trusted. It returns zero without announcers, if the announcers are behind, and if there is news.
func (a *announcements) quietUntil(head order.Block) time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open == 0 || a.newest.Number != head.Number || a.newest.Hash != head.Hash {
		return time.Time{}
	}
	return a.at.Add(a.trust)
}

// now returns how many connections announce heads and the newest number announced; zeros if there are none.
func (a *announcements) now() (connections int, newest uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.open, a.newest.Number
}

// listen runs the chain's announcers until stop is called, which returns when they have ended.
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

// listenTo reconnects after a lost or failed connection, waiting longer each time. Pauses are jittered so that replicas
// do not reconnect together.
func (a *announcements) listenTo(ctx context.Context, announcer Announcer) {
	countAnnouncerLosses(ctx, a.chain, 0)
	pause := announcerRetry
	for {
		var announced time.Time // time of the first head
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
		a.logger.WarnContext(ctx, "no announcements of heads; polling instead", "error", err, "retry_in", jittered)
		if !order.Wait(ctx, jittered, nil) {
			return
		}
		pause = min(2*pause, longestAnnouncerRetry)
	}
}

// Announced describes the heads that a chain's endpoints announce.
type Announced struct {
	Endpoints   int    // configured to announce
	Connections int    // connections that announce heads; 0 if another replica follows the chain
	Newest      uint64 // number of the newest announced block; not evidence
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
