package quote

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"crossgate/chain"
)

type quoteResult struct {
	verdict Verdict // Outbid if there is a quote
	quote   Quote
	err     error
}

// How many quotes end a round early: LI.FI waits for four, and for one fewer every 300 ms from 600 ms on (docs.li.fi).
// enoughFrom and enoughStep are percentages of the window.
const (
	enoughQuotes  = 4
	enoughFrom    = 28
	enoughStep    = 12
	fallbackUnder = 2 // with fewer quotes from enoughFrom on, fallbacks are asked
)

// quorum returns how many quotes suffice after a time; before it has begun, no number does.
func quorum(elapsed, window time.Duration) (quotes int, begun bool) {
	from, step := window*enoughFrom/100, window*enoughStep/100
	if elapsed < from || step <= 0 {
		return 0, false
	}
	return max(enoughQuotes-int((elapsed-from)/step), 1), true
}

// quoteRound is a round of asking venues in progress. runRound's goroutine owns it; those of the venues only send.
type quoteRound struct {
	estimator *Estimator
	queries   []venueQuery
	window    time.Duration
	began     time.Time
	results   []quoteResult // Silent until the venue answers
	arrivals  chan arrival
	fallbacks []int // not asked yet
	waiting   int
	quotes    int
}

type arrival struct {
	index  int
	result quoteResult
}

// runRound asks all venues concurrently until enough have quoted or the window closes; it waits twice as long for the
// first quote. Late venues are cancelled; fallbacks are asked only if fewer than two others have quoted.
func (e *Estimator) runRound(ctx context.Context, window time.Duration, queries []venueQuery) roundResults {
	ctx, span := start(ctx, "quote.compare", offersKey.Int(0))
	defer span.End()
	ctx, cancel := context.WithTimeout(ctx, 2*window)
	defer cancel()
	r := &quoteRound{
		estimator: e, queries: queries, window: window, began: time.Now(), results: make([]quoteResult, len(queries)),
		arrivals: make(chan arrival, len(queries)), // buffered so that late venues never block
	}
	at := e.Now()
	for _, i := range e.History.slowestFirst(queries) {
		r.results[i].verdict = Silent
		if queries[i].profile.Fallback {
			r.fallbacks = append(r.fallbacks, i)
			continue
		}
		if r.ask(ctx, i); r.waiting == 1 {
			runtime.Gosched() // so that the request leaves before those of the rest, and of rounds that begin now
		}
	}
	r.receive(ctx)
	span.SetAttributes(offersKey.Int(r.quotes), refusedKey.Int(len(queries)-r.quotes))
	return roundResults{at: at, quotes: r.close(ctx)}
}

func (r *quoteRound) ask(ctx context.Context, index int) {
	r.waiting++
	r.estimator.asking.Go(func() { r.arrivals <- arrival{index, r.estimator.quote(ctx, r.queries[index])} })
}

// receive collects results until the round is over.
func (r *quoteRound) receive(ctx context.Context) {
	tick := time.NewTimer(r.window * enoughFrom / 100)
	defer tick.Stop()
	for {
		elapsed := time.Since(r.began)
		wanted, begun := quorum(elapsed, r.window)
		if r.quotes < fallbackUnder && (begun || r.waiting == 0) {
			for _, i := range r.fallbacks {
				r.ask(ctx, i)
			}
			r.fallbacks = nil
		}
		if r.waiting == 0 || r.quotes > 0 && (elapsed >= r.window || begun && r.quotes >= wanted) {
			return
		}
		select {
		case a := <-r.arrivals:
			r.results[a.index] = a.result
			r.waiting--
			Report(ctx, Heard{a.result.quote.Venue, a.result.quote.AmountOut, a.result.quote.Took, a.result.err})
			if a.result.err == nil {
				r.quotes++
			}
		case <-tick.C:
			tick.Reset(max(r.window*enoughStep/100, time.Millisecond))
		case <-ctx.Done():
			return
		}
	}
}

// close fills in why the other venues have no quote.
func (r *quoteRound) close(ctx context.Context) []quoteResult {
	for i := range r.results {
		if r.results[i].verdict != Silent {
			continue
		}
		// If the caller left, the venue did not take too long.
		cause := context.DeadlineExceeded
		if errors.Is(ctx.Err(), context.Canceled) {
			cause = context.Canceled
		}
		r.results[i].err = fmt.Errorf("no answer in time: %w", cause)
		r.results[i].quote.Took = time.Since(r.began)
	}
	for _, i := range r.fallbacks {
		r.results[i] = quoteResult{verdict: LeftOut, err: errors.New("enough others have quoted")}
	}
	return r.results
}

// quote requests one venue's quote. It turns a venue's panic into an error.
func (e *Estimator) quote(ctx context.Context, q venueQuery) (r quoteResult) {
	name := q.profile.Name
	ctx, span := start(ctx, "quote.venue", venueKey.String(name))
	began := e.Now()
	defer func() {
		if cause := recover(); cause != nil {
			r.err = fmt.Errorf("panic while quoting: %v", cause)
		}
		r.quote.Venue = name
		if r.quote.Took == 0 {
			r.quote.Took = e.Now().Sub(began)
		}
		r.verdict = Outbid
		if r.err != nil {
			r.verdict = Refused
		} else if span.IsRecording() {
			span.SetAttributes(amountOutKey.String(r.quote.AmountOut.String()))
		}
		e.measures.quoted(ctx, name, r.quote.Took, r.err)
		finish(span, r.err)
	}()
	r.quote, r.err = q.venue.Quote(ctx, q.swap)
	if r.err == nil && r.quote.AmountOut.IsZero() {
		r.err = fmt.Errorf("a quote of zero: %w", ErrNoRoute)
	}
	return r
}

// Heard is one venue's answer, reported while others are still being asked.
type Heard struct {
	Venue     string
	AmountOut chain.Amount // as quoted; zero with Err
	Took      time.Duration
	Err       error
}

type watcherKey struct{}

// WithWatcher returns a context that reports each venue's answer to heard, which runs in the round's goroutine and must
// not block it. Rounds that other requests began are not reported.
func WithWatcher(ctx context.Context, heard func(Heard)) context.Context {
	return context.WithValue(ctx, watcherKey{}, heard)
}

// Report passes an answer to the watcher, if any.
func Report(ctx context.Context, h Heard) {
	if heard, watched := ctx.Value(watcherKey{}).(func(Heard)); watched {
		heard(h)
	}
}
