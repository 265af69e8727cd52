package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"
)

// pacer sends requests to a gateway when they are due, whatever happened to those before, each over an idle persistent
// connection. An answer's time counts from when its request was due, so that nothing that delays requests is hidden.
type pacer struct {
	address string
	under   sync.WaitGroup // requests in flight

	mu   sync.Mutex
	idle []*line
}

// question is a request with a check of its answer.
type question struct {
	text   []byte
	check  func(got head, body []byte) error // returns errDeclined if that is acceptable
	due    time.Time
	isHit  bool
	limit  time.Duration // of the answer's time; 0: none
	cold   time.Duration // limit for an answer made for this request; 0: the same
	during *phase
}

// errDeclined is neither an answer nor a mistake: the gateway said that it cannot answer now, and when to retry.
var errDeclined = errors.New("declined")

// is checks that a response is 200 with the body that want returns.
func is(want func() []byte) func(head, []byte) error {
	return func(got head, body []byte) error {
		if got.status == http.StatusOK && bytes.Equal(body, want()) {
			return nil
		}
		return fmt.Errorf("%d: %.200s", got.status, body)
	}
}

// name returns the first line of the request.
func (q question) name() string {
	line, _, _ := bytes.Cut(q.text, []byte("\r\n"))
	return string(line)
}

// line is one connection, whose answers are read as they arrive.
type line struct {
	client
	asked chan question // with room for one: the question in flight
}

// phase is a part of a run, with the outcome of the requests due in it.
type phase struct {
	name string
	span time.Duration

	mu           sync.Mutex
	hits, misses []time.Duration // times of answers
	late         []time.Duration // delays of sending after the due time
	good         int             // right answers within longestAnswer
	declined     []time.Duration // times of refusals
	wrong        []string        // wrong answers
}

// run sends the requests that next returns, rate per second.
func (p *pacer) run(during *phase, rate int, next func() question) {
	runtime.LockOSThread() // its timer is finer than the one that goroutines share
	defer runtime.UnlockOSThread()
	begun := time.Now()
	interval := time.Second / time.Duration(rate)
	for i := range int(during.span / interval) {
		q := next()
		q.during, q.due = during, begun.Add(time.Duration(i)*interval)
		if ahead := time.Until(q.due); ahead > 0 {
			wait := syscall.NsecToTimespec(ahead.Nanoseconds())
			_ = syscall.Nanosleep(&wait, nil) // waking early means sending early
		}
		p.under.Add(1)
		if l := p.free(); l != nil {
			p.send(l, q)
		} else {
			go p.dialAndSend(q)
		}
	}
}

// free returns the most recently used idle connection, or nil.
func (p *pacer) free() *line {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle) == 0 {
		return nil
	}
	l := p.idle[len(p.idle)-1]
	p.idle = p.idle[:len(p.idle)-1]
	return l
}

func (p *pacer) dialAndSend(q question) {
	connection, err := dial(context.Background(), p.address)
	if err != nil {
		p.fail(q, err)
		return
	}
	l := &line{connection, make(chan question, 1)}
	go p.listen(l)
	p.send(l, q)
}

func (p *pacer) send(l *line, q question) {
	q.during.sent(time.Since(q.due))
	l.asked <- q
	_, _ = l.Write(q.text) // the reader notices a failure
}

// listen receives the answers of a connection until it ends.
func (p *pacer) listen(l *line) {
	defer l.Close()
	var body []byte
	for {
		_, err := l.reader.Peek(1)
		if err != nil && p.forget(l) {
			return // closed while idle
		}
		q := <-l.asked
		var got head
		if err == nil {
			got, err = readHead(l.reader)
		}
		if err == nil {
			body = append(body[:0], make([]byte, got.length)...)
			_, err = io.ReadFull(l.reader, body)
		}
		if err != nil {
			p.fail(q, err)
			return
		}
		q.during.answered(q, got, body, time.Since(q.due))
		if !got.isLast {
			p.mu.Lock()
			p.idle = append(p.idle, l)
			p.mu.Unlock()
		}
		p.under.Done()
		if got.isLast {
			return
		}
	}
}

// forget removes a connection from the idle ones, and reports whether it was one.
func (p *pacer) forget(l *line) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := len(p.idle)
	p.idle = slices.DeleteFunc(p.idle, func(each *line) bool { return each == l })
	return len(p.idle) < before
}

func (p *pacer) fail(q question, err error) {
	q.during.mu.Lock()
	defer q.during.mu.Unlock()
	q.during.wrong = append(q.during.wrong, q.name()+" "+err.Error())
	p.under.Done()
}

// close ends the connections once no request is in flight.
func (p *pacer) close() {
	p.under.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.idle {
		_ = l.Close()
	}
}

func (f *phase) sent(late time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.late = append(f.late, late)
}

func (f *phase) answered(q question, got head, body []byte, took time.Duration) {
	err := q.check(got, body)
	limit := q.limit
	if q.cold > 0 && got.status == http.StatusOK && !got.isKept {
		limit = q.cold
	}
	if limit > 0 && took > limit {
		err = errors.Join(err, fmt.Errorf("%d after %v", got.status, took.Round(time.Millisecond)))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case errors.Is(err, errDeclined):
		f.declined = append(f.declined, took)
	case err != nil:
		f.wrong = append(f.wrong, q.name()+" "+err.Error())
	case took <= longestAnswer:
		f.good++
	}
	if !q.isHit {
		f.misses = append(f.misses, took)
		return
	}
	f.hits = append(f.hits, took)
}

func quantiles(all []time.Duration) string {
	return milliseconds(quantile(all, 0.5)) + "\t" + milliseconds(quantile(all, 0.99)) + "\t" + milliseconds(quantile(all, 1))
}

func milliseconds(d time.Duration) string { return fmt.Sprintf("%.2f", d.Seconds()*1e3) }

// quantile returns the q-quantile of all, which it sorts.
func quantile(all []time.Duration, q float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[int(float64(len(all)-1)*q)]
}
