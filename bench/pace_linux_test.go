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

// pacer sends requests to a gateway when they are due, whatever became of those before, each over a kept connection
// that waits for nothing. What an answer took counts from when its request was due, so that nothing is hidden that
// makes requests wait.
type pacer struct {
	address string
	under   sync.WaitGroup // requests

	mu   sync.Mutex
	idle []*line
}

// question is a request with what its answer must be.
type question struct {
	text   []byte
	check  func(got head, body []byte) error // errDeclined where that is an answer, too
	due    time.Time
	isHit  bool
	limit  time.Duration // that the answer may not take; 0: none
	cold   time.Duration // the same, of one that was made for it; 0: no other
	during *phase
}

// errDeclined is no answer, and no mistake: the gateway said that it cannot answer now, and when to ask again.
var errDeclined = errors.New("declined")

// is checks that an answer is 200 with the body that want returns.
func is(want func() []byte) func(head, []byte) error {
	return func(got head, body []byte) error {
		if got.status == http.StatusOK && bytes.Equal(body, want()) {
			return nil
		}
		return fmt.Errorf("%d: %.200s", got.status, body)
	}
}

// name is the first line of the request.
func (q question) name() string {
	line, _, _ := bytes.Cut(q.text, []byte("\r\n"))
	return string(line)
}

// line is one connection, whose answers are read as they come.
type line struct {
	client
	asked chan question // with room for one: what is asked over it
}

// phase is a part of a run, and what became of the requests that were due in it.
type phase struct {
	name string
	span time.Duration

	mu           sync.Mutex
	hits, misses []time.Duration // that answers took
	late         []time.Duration // by which requests were sent after they were due
	good         int             // right answers within longestAnswer
	declined     []time.Duration // that it took to say so
	wrong        []string        // what came instead of the right answer
}

// run sends the requests that next makes, rate of them a second.
func (p *pacer) run(during *phase, rate int, next func() question) {
	runtime.LockOSThread() // whose timer is finer than the one that goroutines share
	defer runtime.UnlockOSThread()
	begun := time.Now()
	interval := time.Second / time.Duration(rate)
	for i := range int(during.span / interval) {
		q := next()
		q.during, q.due = during, begun.Add(time.Duration(i)*interval)
		if ahead := time.Until(q.due); ahead > 0 {
			wait := syscall.NsecToTimespec(ahead.Nanoseconds())
			_ = syscall.Nanosleep(&wait, nil) // who wakes early sends early
		}
		p.under.Add(1)
		if l := p.free(); l != nil {
			p.send(l, q)
		} else {
			go p.dialAndSend(q)
		}
	}
}

// free returns a connection that waits for nothing, the one used last; nil when there is none.
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
	_, _ = l.Write(q.text) // who reads learns that it went wrong
}

// listen takes the answers of a connection until it ends.
func (p *pacer) listen(l *line) {
	defer l.Close()
	var body []byte
	for {
		_, err := l.reader.Peek(1)
		if err != nil && p.forget(l) {
			return // closed while nothing was asked
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

// forget takes a connection out of those that wait for nothing, if it is one of them.
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

// close ends the connections, when nothing is under way.
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

// quantile is what the share q of all is not above. It sorts them.
func quantile(all []time.Duration, q float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[int(float64(len(all)-1)*q)]
}
