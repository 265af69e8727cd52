package quote

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"crossgate/chain"
)

// A round's answers are shared for about a block: after that the pools are others. Chains with very short
// or very long blocks have these bounds.
const (
	shortestShare = time.Second
	longestShare  = 5 * time.Second
)

// round is what venues answered when they were asked together.
type round struct {
	at      time.Time
	answers []answer // in the sequence of the questions
}

func (r round) quoted() bool {
	for _, a := range r.answers {
		if a.verdict == Outbid {
			return true
		}
	}
	return false
}

// board holds rounds of answers for whoever asks the same. Venues are asked once for all who want to know at
// the time, and not again for about a block. The zero value is empty.
type board struct {
	mu    sync.Mutex
	posts map[string]*post
	swept time.Time
}

// post is one round, which may still be under way.
type post struct {
	began   time.Time
	done    chan struct{} // closed when round is there
	round   round
	until   time.Time // zero while under way
	waiting int       // callers
	stop    context.CancelFunc
}

// fits reports whether a round that began at since or later is, or will be, here.
func (p *post) fits(since, now time.Time) bool {
	return !p.began.Before(since) && (p.until.IsZero() || now.Before(p.until))
}

// inquiry is what somebody wants to know.
type inquiry struct {
	key   string
	since time.Time // when the answers may be from, at the earliest; zero: whenever
	life  time.Duration
	load  func(context.Context) round
}

// get returns the round under q.key, or has it asked by q.load, which goes on as long as one caller waits for it.
func (b *board) get(ctx context.Context, now func() time.Time, q inquiry) (round, error) {
	b.mu.Lock()
	found, posted := b.posts[q.key]
	if !posted || !found.fits(q.since, now()) {
		loading, stop := context.WithCancel(context.WithoutCancel(ctx))
		found = &post{began: now(), done: make(chan struct{}), stop: stop}
		b.sweepLocked(now())
		b.posts[q.key] = found
		go func() {
			defer stop()
			loaded := q.load(loading)
			b.put(q.key, found, loaded, now().Add(q.life))
		}()
	}
	found.waiting++
	b.mu.Unlock()
	select {
	case <-found.done:
		return found.round, nil
	case <-ctx.Done():
		b.leave(q.key, found)
		return round{}, fmt.Errorf("comparing venues: %w", ctx.Err())
	}
}

// put keeps a round in which somebody quoted. Failures are told to those who wait and forgotten.
func (b *board) put(key string, p *post, loaded round, until time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p.round, p.until = loaded, until
	if !loaded.quoted() && b.posts[key] == p {
		delete(b.posts, key)
	}
	close(p.done)
}

// leave stops a round that nobody waits for any more.
func (b *board) leave(key string, p *post) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p.waiting--
	if p.waiting > 0 || !p.until.IsZero() {
		return
	}
	if b.posts[key] == p {
		delete(b.posts, key)
	}
	p.stop()
}

// sweepLocked forgets what is over, at most once in a while: it looks at every post.
func (b *board) sweepLocked(now time.Time) {
	if b.posts == nil {
		b.posts = map[string]*post{}
	}
	if now.Sub(b.swept) < shortestShare {
		return
	}
	b.swept = now
	for key, p := range b.posts {
		if !p.until.IsZero() && !now.Before(p.until) {
			delete(b.posts, key)
		}
	}
}

// shared returns what the venues answer to the questions, asked since a time, for us or for somebody else. What
// they are asked does not depend on sender and recipient, but for the first who asked.
func (e *Estimator) shared(ctx context.Context, r Request, s Swap, asked []question, since time.Time) (round, error) {
	window := e.window
	if r.Wait > 0 {
		window = min(window, r.Wait)
	}
	return e.board.get(ctx, e.now, inquiry{
		key: shareKey(s, window, asked), since: since, life: min(max(s.Chain.BlockTime, shortestShare), longestShare),
		load: func(ctx context.Context) round { return e.askAll(ctx, window, asked) },
	})
}

// shareKey tells questions apart by all that the answers depend on. No part can contain the separator.
func shareKey(s Swap, window time.Duration, asked []question) string {
	var key strings.Builder
	for _, part := range []any{s.Chain.ID, s.In.Address, s.Out.Address, s.In.Amount, s.SlippagePercent, window} {
		fmt.Fprintf(&key, "%v|", part)
	}
	for _, q := range asked {
		fmt.Fprintf(&key, "%s|%v|", q.profile.Name, q.ways)
		for _, a := range []Affiliate{q.swap.Affiliate, q.swap.Second} {
			recipient := chain.Address{}
			if a.Percent.IsPositive() {
				recipient = a.Recipient
			}
			fmt.Fprintf(&key, "%v|%v|", a.Percent, recipient)
		}
	}
	return key.String()
}
