package upstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"
)

const (
	// joinFor is for how long after its beginning a flight is joined. What it brings may be as old as that, and those
	// who come later must not all wait for an endpoint that hangs.
	joinFor = 2 * time.Second
	// mostJoined is how many flights a caller joins one after the other, when they leave its calls open, before it asks
	// by itself.
	mostJoined = 2
)

// flight is calls on their way through the endpoints of a pool, for all who ask the same meanwhile. It goes on as long
// as one of them waits.
type flight struct {
	calls   []*Call // as who began it asked, for whom nothing is written into them
	keys    []key
	began   time.Time
	granted time.Duration // that who began it had left; zero: no limit
	limit   limit
	asker   trace.SpanContext // of who began it
	end     context.CancelCauseFunc
	waiting int // callers; below the mutex of the flights

	done chan struct{}
	// What came of it, to be read after done is closed.
	heard    []replies // of one endpoint after the other
	weighed  weighing  // for who began it
	err      error
	panicked any
}

// key is what calls have in common that one answer serves.
type key struct {
	question     string // method and parameters
	inBackground bool
}

// place is where a call is in a flight.
type place struct {
	flight *flight
	index  int
}

// flights are those under way over one pool.
type flights struct {
	several bool // endpoints that could confirm each other
	joins   joinCounter

	mu       sync.Mutex
	underway map[key]place // of each the newest flight that may be joined
}

func newFlights(p *Pool) *flights {
	return &flights{several: len(p.endpoints) > 1, joins: newJoinCounter(p), underway: make(map[key]place)}
}

// Outdate lets nobody join calls any more that are under way: something has changed since they were made, as the caller
// has just learned.
func (r *RPC) Outdate() {
	r.flights.mu.Lock()
	defer r.flights.mu.Unlock()
	clear(r.flights.underway)
}

// seat is a caller's part of a flight.
type seat struct {
	flight  *flight
	isFirst bool    // the flight began for it: all calls are the caller's
	calls   []*Call // the caller's
	places  []int   // of each among the flight's, unless it is the first
	left    error   // why the caller did not wait for the end; nil: it did
}

// board finds seats for calls: as far as they may join in flights that ask the same, for the rest in a new one.
func (r *RPC) board(ctx context.Context, calls []*Call, mayJoin bool) (seats []*seat, err error) {
	asked := make([]Call, len(calls))
	questions := make([]string, len(calls))
	for i, call := range calls {
		asked[i] = *call
		if asked[i].text, err = call.params(); err != nil {
			return nil, err
		}
		questions[i] = call.Method + " " + string(asked[i].text)
	}
	fs := r.flights
	fs.mu.Lock()
	defer fs.mu.Unlock()
	var rest []int
	for _, group := range groups(calls) {
		var f *flight
		var places []int
		if mayJoin && !slices.ContainsFunc(group, func(i int) bool { return calls[i].Fresh }) {
			f, places = fs.find(questions, group, isBackground(ctx))
		}
		if f == nil {
			rest = append(rest, group...)
			continue
		}
		seats = f.admit(ctx, seats, calls, group, places)
	}
	if len(rest) > 0 {
		slices.Sort(rest)
		seats = append(seats, r.begin(ctx, calls, asked, questions, rest))
	}
	return seats, nil
}

// groups are calls, by index, that one flight has to answer together.
func groups(calls []*Call) [][]int {
	var all [][]int
	var together []int
	for i, call := range calls {
		if call.Apart {
			all = append(all, []int{i})
			continue
		}
		together = append(together, i)
	}
	if len(together) > 0 {
		all = append(all, together)
	}
	return all
}

// admit adds, below the mutex, a group of calls to a caller's seat in a flight, which it may have already.
func (f *flight) admit(ctx context.Context, seats []*seat, calls []*Call, group, places []int) []*seat {
	at := slices.IndexFunc(seats, func(s *seat) bool { return s.flight == f })
	if at < 0 {
		f.waiting++
		f.limit.extend(ctx)
		at, seats = len(seats), append(seats, &seat{flight: f})
	}
	for _, i := range group {
		seats[at].calls = append(seats[at].calls, calls[i])
	}
	seats[at].places = append(seats[at].places, places...)
	return seats
}

// find returns, below the mutex, a young flight with all questions of a group, and their places in it. Who asks in the
// background joins others; these do not wait for what is done in the background.
func (fs *flights) find(questions []string, group []int, inBackground bool) (*flight, []int) {
	f, places := fs.findAmong(key{inBackground: false}, questions, group)
	if f == nil && inBackground {
		return fs.findAmong(key{inBackground: true}, questions, group)
	}
	return f, places
}

func (fs *flights) findAmong(k key, questions []string, group []int) (found *flight, places []int) {
	for _, i := range group {
		k.question = questions[i]
		at, known := fs.underway[k]
		if !known || found != nil && at.flight != found || time.Since(at.flight.began) > joinFor {
			return nil, nil
		}
		found, places = at.flight, append(places, at.index)
	}
	return found, places
}

// begin has, below the mutex, a new flight ask those calls that rest lists. Others may join it from now on, in place of
// older ones.
func (r *RPC) begin(ctx context.Context, calls []*Call, asked []Call, questions []string, rest []int) *seat {
	f := &flight{
		began: time.Now(), asker: trace.SpanContextFromContext(ctx), waiting: 1,
		done: make(chan struct{}), weighed: weighing{several: r.flights.several},
	}
	first := &seat{flight: f, isFirst: true}
	for at, i := range rest {
		first.calls, f.calls = append(first.calls, calls[i]), append(f.calls, &asked[i])
		f.keys = append(f.keys, key{questions[i], isBackground(ctx)})
		r.flights.underway[f.keys[at]] = place{f, at}
	}
	f.limit.extend(ctx)
	if deadline, limited := ctx.Deadline(); limited {
		f.granted = max(time.Until(deadline), 1)
	}
	flying, end := context.WithCancelCause(context.WithoutCancel(ctx))
	f.end = end
	if left := ctx.Err(); left != nil {
		r.flights.close(f)
		end(left)
	}
	go r.fly(within{flying, &f.limit}, f)
	return first
}

// wait returns when the flight of a seat is over, or the caller leaves. The last one to leave ends it.
func (fs *flights) wait(ctx context.Context, s *seat) {
	if !s.isFirst {
		fs.joins.add(ctx, len(s.calls))
		defer startJoin(ctx, s, fs.joins.attributes).end(s)
	}
	select {
	case <-s.flight.done:
		return
	case <-ctx.Done():
	}
	if fs.leave(s.flight, ctx.Err()) {
		<-s.flight.done
		return
	}
	select {
	case <-s.flight.done: // both came together
	default:
		s.left = ctx.Err()
	}
}

// leave takes note that a caller leaves, and reports whether it was the last.
func (fs *flights) leave(f *flight, why error) (isLast bool) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f.waiting--; f.waiting > 0 {
		return false
	}
	fs.close(f)
	f.end(why)
	return true
}

// close lets nobody join a flight any more. It is called below the mutex.
func (fs *flights) close(f *flight) {
	for _, k := range f.keys {
		if fs.underway[k].flight == f {
			delete(fs.underway, k)
		}
	}
}

// land ends a flight for those who wait.
func (fs *flights) land(f *flight) {
	fs.mu.Lock()
	fs.close(f)
	fs.mu.Unlock()
	f.end(nil)
	close(f.done)
}

// fullest is the fullest of the answers that were heard, as the seat's own calls judge them; nil when there is none.
func (s *seat) fullest() outcomes {
	if s.isFirst {
		return s.flight.weighed.fullest
	}
	own := weighing{several: s.flight.weighed.several}
	for _, each := range s.flight.heard {
		if own.hear(each.of(s.calls, s.places)) == nil {
			break
		}
	}
	return own.fullest
}

// leavesHope reports whether asking again may bring what the flight did not: not all endpoints were asked, as who began
// it was content, or they were asked in more of a hurry than a caller with ctx is in.
func (f *flight) leavesHope(ctx context.Context) bool {
	if f.err == nil {
		return true
	}
	deadline, limited := ctx.Deadline()
	return f.granted > 0 && (!limited || time.Until(deadline) > f.granted)
}

// leaving is the error of a caller that did not wait for the end.
func (r *RPC) leaving(s *seat) error {
	return fmt.Errorf("%s: %w", s.calls[0].Method, &Error{Class: leftAs(s.left), Endpoint: r.Name(), Err: s.left})
}

// leftAs is the class of what ended a caller's context.
func leftAs(why error) Class {
	if errors.Is(why, context.Canceled) {
		return Canceled
	}
	return Timeout
}

// limit is the latest deadline of those who wait for a flight.
type limit struct {
	isNone atomic.Bool // somebody has none
	latest atomic.Pointer[time.Time]
}

func (l *limit) extend(ctx context.Context) {
	deadline, limited := ctx.Deadline()
	if !limited {
		l.isNone.Store(true)
	} else if latest := l.latest.Load(); latest == nil || deadline.After(*latest) {
		l.latest.Store(&deadline)
	}
}

// within is the context of a flight: the values are those of who began it, it ends when nobody waits any more, and
// the deadline, at which that will be, moves while others join.
type within struct {
	context.Context
	limit *limit
}

func (w within) Deadline() (time.Time, bool) {
	if latest := w.limit.latest.Load(); latest != nil && !w.limit.isNone.Load() {
		return *latest, true
	}
	return time.Time{}, false
}

// endOf returns why ctx ended: at a deadline, be it that of the last who waited for a flight, or because its owner
// left.
func endOf(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}
