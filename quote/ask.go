package quote

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"
)

// answer is what a venue said to a question.
type answer struct {
	verdict Verdict // Outbid when there is a quote
	quote   Quote
	err     error
}

// enough is how many quotes are worth waiting for before a window has closed: LI.FI waits for four results
// and for one less every 300 ms, from 600 ms on (docs.li.fi, route timing). These are shares of the window,
// in percent: 700 ms and 300 ms of the default one.
const (
	enoughQuotes  = 4
	enoughFrom    = 28
	enoughStep    = 12
	fallbackUnder = 2 // quotes, from enoughFrom on
)

// quorum is how many quotes are enough after a time; none are before the quorum begins.
func quorum(elapsed, window time.Duration) (quotes int, begun bool) {
	from, step := window*enoughFrom/100, window*enoughStep/100
	if elapsed < from || step <= 0 {
		return 0, false
	}
	return max(enoughQuotes-int((elapsed-from)/step), 1), true
}

// hall is the place where one round of answers comes in.
type hall struct {
	questions []question
	window    time.Duration
	began     time.Time
	answers   []*answer // nil: none yet
	arrivals  chan arrival
	held      []int // fallbacks that were not asked
	waiting   int
	quotes    int
}

type arrival struct {
	index  int
	answer answer
}

// askAll asks all venues at once and waits until enough of them have quoted or the window closes; as long
// as nobody has quoted, twice as long. Who is late is cancelled, not awaited: a venue that ignores its
// context must not hold up the others. Fallbacks are asked only when fewer than two others have quoted.
func (e *Estimator) askAll(ctx context.Context, window time.Duration, asked []question) round {
	ctx, span := tracer().Start(ctx, "quote.compare")
	defer span.End()
	ctx, cancel := context.WithTimeout(ctx, 2*window)
	defer cancel()
	h := &hall{
		questions: asked, window: window, began: time.Now(), answers: make([]*answer, len(asked)),
		arrivals: make(chan arrival, len(asked)), // roomy: the late ones must not wait for a reader
	}
	at := e.now()
	for i, q := range asked {
		if q.profile.Fallback {
			h.held = append(h.held, i)
			continue
		}
		e.send(ctx, h, i)
	}
	e.receive(ctx, h)
	span.SetAttributes(offersKey.Int(h.quotes), refusedKey.Int(len(asked)-h.quotes))
	return round{at: at, answers: h.close(ctx)}
}

func (e *Estimator) send(ctx context.Context, h *hall, index int) {
	h.waiting++
	go func() {
		growStack()
		h.arrivals <- arrival{index, e.ask(ctx, h.questions[index])}
	}()
}

// growStack makes the stack of a new goroutine as large as asking a venue takes. It would get there by itself, by
// doubling several times on the way down, and then all frames that are on it by then are moved each time.
//
//go:noinline
func growStack() {
	var room [stackOfAsking]byte
	runtime.KeepAlive(&room)
}

// stackOfAsking is what a stack must have room for to be as large as those of venues come to be, 16 kB.
const stackOfAsking = 9 << 10

// receive takes in answers until there is no more reason to wait.
func (e *Estimator) receive(ctx context.Context, h *hall) {
	tick := time.NewTimer(h.window * enoughFrom / 100)
	defer tick.Stop()
	for {
		if h.needsFallbacks() {
			for _, i := range h.held {
				e.send(ctx, h, i)
			}
			h.held = nil
		}
		if h.isOver() {
			return
		}
		select {
		case a := <-h.arrivals:
			h.answers[a.index] = &a.answer
			h.waiting--
			if a.answer.err == nil {
				h.quotes++
			}
		case <-tick.C:
			tick.Reset(max(h.window*enoughStep/100, time.Millisecond))
		case <-ctx.Done():
			return
		}
	}
}

func (h *hall) needsFallbacks() bool {
	_, begun := quorum(time.Since(h.began), h.window)
	return len(h.held) > 0 && h.quotes < fallbackUnder && (begun || h.waiting == 0)
}

func (h *hall) isOver() bool {
	elapsed := time.Since(h.began)
	wanted, begun := quorum(elapsed, h.window)
	return h.waiting == 0 || h.quotes > 0 && (elapsed >= h.window || begun && h.quotes >= wanted)
}

// close says of those who did not answer why.
func (h *hall) close(ctx context.Context) []answer {
	answers := make([]answer, len(h.answers))
	for i, a := range h.answers {
		if a != nil {
			answers[i] = *a
			continue
		}
		answers[i] = answer{verdict: Silent, err: fmt.Errorf("no answer in time: %w", lateness(ctx))}
		answers[i].quote.Took = time.Since(h.began)
	}
	for _, i := range h.held {
		answers[i] = answer{verdict: LeftOut, err: errors.New("others have quoted")}
	}
	return answers
}

// lateness tells a caller who left from a venue that took too long.
func lateness(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return context.Canceled
	}
	return context.DeadlineExceeded
}

// ask gets one venue's quote, whatever the venue does.
func (e *Estimator) ask(ctx context.Context, q question) (a answer) {
	name := q.profile.Name
	ctx, span := startVenue(ctx, "quote.venue", name)
	began := e.now()
	defer func() {
		if cause := recover(); cause != nil {
			a.err = fmt.Errorf("panic while quoting: %v", cause)
		}
		a.quote.Venue = name
		if a.quote.Took == 0 {
			a.quote.Took = e.now().Sub(began)
		}
		a.verdict = Outbid
		if a.err != nil {
			a.verdict = Refused
		} else if span.IsRecording() {
			span.SetAttributes(amountOutKey.String(a.quote.AmountOut.String()))
		}
		e.measures.quoted(ctx, name, a.quote.Took, a.err)
		finish(span, a.err)
	}()
	a.quote, a.err = q.venue.Quote(ctx, q.swap)
	if a.err == nil && a.quote.AmountOut.IsZero() {
		a.err = fmt.Errorf("an outcome of nothing: %w", ErrNoRoute)
	}
	return a
}
