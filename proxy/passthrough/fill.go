package passthrough

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"crossgate/cache"
	"crossgate/cache/rfc9111"
	"crossgate/upstream"
)

// fill is one request to the origin, shared by all clients that ask for the same resource meanwhile.
type fill struct {
	handler *Handler
	key     cache.Key
	host    *Host
	request upstream.Forward
	asks    http.Header // header of the request as the client sent it
	path    string
	mark    cache.Mark
	began   time.Time
	stale   *variant // variant to validate; nil if none
	isAlone bool     // no other request may wait for it, because it asks another question
	cancel  context.CancelFunc
	waiters int  // guarded by Handler.mu, like isLeft
	isLeft  bool // the first client has left

	inform chan interim  // interim responses for the first client
	opened chan struct{} // closed when the reply is known, except for the stored body
	done   chan struct{} // closed when the whole reply is known
	reply
}

// reply is the result of a fill. Those waiting read it after the fill's channels are closed.
type reply struct {
	err      error          // nil if a response arrived
	response *http.Response // response whose body the first client reads; nil if there is none
	growing  *growth        // the body being stored; nil if it is not
	head     *variant       // of the growing response, or the one that a 304 has validated
	answered int            // status of the origin's response; 0 if there was none
	isFresh  bool           // head is the answer, since it was validated
	isKept   bool           // the 304 is for all clients, not only the first
}

type interim struct {
	status int
	header http.Header
}

// mostInterim is how many interim responses wait for a client. net/http accepts few more.
const mostInterim = 8

// join returns the fill of a request: the one in flight, or a new one. It returns nil if a fill has ended since the
// request read the store, which must then be read again.
func (h *Handler) join(x *exchange, stale *variant, isAlone bool) (f *fill, isFirst bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !isAlone {
		if under := h.fills[x.key]; under != nil {
			under.waiters++
			return under, false
		}
		if now, _, _ := h.store.Find(x.key); now != x.stored {
			return nil, false
		}
	}
	f = &fill{
		handler: h, key: x.key, host: x.host, request: h.forwardOf(x), asks: x.header, path: x.path,
		mark: h.store.Mark(), stale: stale, isAlone: isAlone, waiters: 1,
		inform: make(chan interim, mostInterim), opened: make(chan struct{}), done: make(chan struct{}),
	}
	if h.underway[x.key]++; !isAlone {
		h.fills[x.key] = f
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(x.r.Context()))
	f.cancel = cancel
	f.request.Method, f.request.Inform = http.MethodGet, f.informs // a HEAD may have found that the response is stale
	h.works.Add(1)
	go f.run(ctx)
	return f, true
}

// leave is called by requests that are done with the fill. A fill without waiters is canceled unless it is being stored
// or, by goesOn, continues for the sake of later requests.
func (f *fill) leave(isFirst, goesOn bool) {
	h := f.handler
	h.mu.Lock()
	defer h.mu.Unlock()
	if !goesOn {
		f.waiters--
	}
	f.isLeft = f.isLeft || isFirst
	select {
	case <-f.opened:
		f.closeLeft()
	default:
		if f.waiters == 0 {
			f.cancel()
		}
	}
}

// closeLeft closes what the first client would have read, if that has left. It must be called with Handler.mu held.
func (f *fill) closeLeft() {
	switch {
	case !f.isLeft:
	case f.growing != nil:
		if rest := f.growing.leave(); rest != nil {
			_ = rest.Close()
		}
	case f.response != nil:
		_ = f.response.Body.Close()
	}
}

// informs passes an interim response to the first client, or drops it for lack of room, as is permitted.
func (f *fill) informs(status int, header http.Header) {
	select {
	case f.inform <- interim{status, header.Clone()}:
	default:
	}
}

func (f *fill) run(ctx context.Context) {
	h := f.handler
	defer h.works.Done()
	stop := context.AfterFunc(h.ctx, f.cancel)
	defer stop()
	defer f.finish()
	f.began = time.Now()
	if f.stale != nil {
		rfc9111.SetConditions(f.request.Header, f.stale.header)
		delete(f.request.Header, "Range")
	}
	response, err := h.forward(ctx, f.host, f.request)
	if err == nil && f.stale != nil && response.StatusCode == http.StatusNotModified && !rfc9111.Updates(response.Header, f.stale.header) {
		_ = response.Body.Close() // not about the stored response: ask for a full one
		for _, name := range rfc9111.Conditions {
			delete(f.request.Header, name)
		}
		f.stale = nil
		response, err = h.forward(ctx, f.host, f.request)
	}
	if err != nil {
		f.err = err
		f.cancel()
		return
	}
	f.answered = response.StatusCode
	f.open(response)
}

// finish ends the fill, also after a panic.
func (f *fill) finish() {
	h := f.handler
	if panicked := recover(); panicked != nil {
		h.options.Logger.Error("forwarding panicked", "panic", fmt.Sprint(panicked), "stack", string(debug.Stack()))
		f.err = errPanicked
		if f.growing != nil {
			f.growing.end(errPanicked, nil)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.fills[f.key] == f {
		delete(h.fills, f.key)
	}
	if h.underway[f.key]--; h.underway[f.key] == 0 {
		delete(h.underway, f.key)
	}
	select {
	case <-f.opened:
	default:
		close(f.opened)
	}
	f.closeLeft()
	close(f.done)
}

var errPanicked = errors.New("forwarding panicked")

func (f *fill) open(response *http.Response) {
	now := time.Now()
	received := rfc9111.Response{Status: response.StatusCode, Header: response.Header, Requested: f.began, Received: now}
	if f.stale != nil && response.StatusCode == http.StatusNotModified {
		_ = response.Body.Close()
		f.cancel()
		f.isFresh = true
		f.head, f.isKept = f.handler.refresh(f, received)
		return
	}
	if !rfc9111.MayStore(f.request.Header, received, f.host.SetCookie) || variesByOurs(response.Header) ||
		response.ContentLength > f.host.MaxBody || rfc9111.IsFailure(response.StatusCode) && f.hasSpare(now) {
		f.response = response
		if !f.isAlone && !rfc9111.IsFailure(response.StatusCode) {
			f.handler.loosen(f)
		}
		return
	}
	f.head = &variant{
		status: response.StatusCode, header: keptHeader(response.Header, now), received: now,
		policy: rfc9111.PolicyOf(received), selection: rfc9111.SelectionOf(f.asks, response.Header),
	}
	announced := *response
	announced.Trailer = nil // it is written while others read
	f.growing, f.response = &growth{changed: make(chan struct{})}, &announced
	close(f.opened)
	f.store()
}

// hasSpare reports whether a stored response may be served in place of a failure.
func (f *fill) hasSpare(now time.Time) bool {
	stored, _, _ := f.handler.store.Find(f.key)
	v := stored.match(f.asks)
	return v != nil && rfc9111.MayServeOnError(f.asks, v.policy, now)
}

// store reads the body, and stores the response once it is complete.
func (f *fill) store() {
	h, held := f.handler, int64(0)
	defer func() { h.held.Add(-held) }()
	limit := time.AfterFunc(fillLimit, f.cancel)
	defer limit.Stop()
	part := make([]byte, 32<<10)
	for {
		n, err := f.response.Body.Read(part)
		held += int64(n)
		total := h.held.Add(int64(n))
		f.growing.change(func(g *growth) { g.bytes = append(g.bytes, part[:n]...) })
		switch {
		case errors.Is(err, io.EOF):
			_ = f.response.Body.Close()
			v := *f.head
			v.body, _, _ = f.growing.from(0)
			h.mu.Lock()
			h.put(f, &v)
			h.mu.Unlock()
			f.growing.end(nil, nil)
			return
		case err != nil:
			_ = f.response.Body.Close()
			f.growing.end(err, nil)
			return
		case held > f.host.MaxBody, total > h.options.MaxBytes/2: // too long, or too many at once
			limit.Stop()
			h.loosen(f)
			f.growing.end(nil, f.response.Body) // only the first client gets the rest
			return
		}
	}
}

// growth is a body that is read for the store and, at the same time, by the client whose request began it.
type growth struct {
	mu      sync.Mutex
	bytes   []byte // only grows
	ended   bool
	err     error         // why it ended; nil if complete
	rest    io.ReadCloser // remainder of a body too long to store, for the client to read; nil if none
	changed chan struct{} // closed at the next change
}

func (g *growth) end(err error, rest io.ReadCloser) {
	g.change(func(g *growth) { g.ended, g.err, g.rest = true, err, rest })
}

func (g *growth) change(do func(*growth)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	do(g)
	close(g.changed)
	g.changed = make(chan struct{})
}

// from returns the bytes from an offset on, whether they are the last, and a channel that closes at the next change.
func (g *growth) from(offset int) (p []byte, ended bool, changed <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.bytes[offset:len(g.bytes):len(g.bytes)], g.ended, g.changed
}

// failure returns why the body ended, nil if it has not or is complete.
func (g *growth) failure() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}

// leave transfers the remainder to the caller, who closes it; nil if there is none or it was already transferred.
func (g *growth) leave() io.ReadCloser {
	g.mu.Lock()
	defer g.mu.Unlock()
	rest := g.rest
	g.rest = nil
	return rest
}
