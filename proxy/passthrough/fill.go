package passthrough

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"time"

	"crossgate/cache"
	"crossgate/cache/rfc9111"
	"crossgate/upstream"
)

// fill asks the origin once for all who ask for one resource meanwhile.
type fill struct {
	handler *Handler
	key     cache.Key
	host    *Host
	request upstream.Forward
	asks    http.Header // of the request as the client sent it
	path    string
	mark    cache.Mark
	began   time.Time
	stale   *variant // that is validated; nil: none
	isAlone bool     // no other request may wait for it: it asks another question
	cancel  context.CancelFunc
	waiters int  // guarded by Handler.mu, as is
	isLeft  bool // by the first client

	inform chan interim  // interim responses, for the first client
	opened chan struct{} // closed when the reply is known, but for its stored part
	done   chan struct{} // closed when all of it is
	reply
}

// reply is what a fill came to. Who waits reads it after the channels of the fill say that it is known.
type reply struct {
	err      error          // nil: a response came
	response *http.Response // whose body is left to the first client; nil: there is none
	growing  *growth        // the body, while it is stored; nil: it is not
	head     *variant       // of the response that is growing, or what a 304 has validated
	answered int            // status of the origin's response; 0: there was none
	isFresh  bool           // head answers: it was validated
	isKept   bool           // by a 304 that is for all, not for the first client alone
}

type interim struct {
	status int
	header http.Header
}

// mostInterim is how many interim responses wait for a client. net/http accepts few more.
const mostInterim = 8

// join returns the fill of a request: that under way, or a new one that it begins. It is nil where a fill has ended
// since the request read the store, which is to be read once more then.
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
	if !isAlone {
		h.fills[x.key] = f
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(x.r.Context()))
	f.cancel = cancel
	f.request.Inform = f.informs
	h.works.Add(1)
	go f.run(ctx)
	return f, true
}

// leave is called by requests that are done with the fill. One without waiters ends, unless it is being stored, or goes
// on for the sake of later requests.
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

// closeLeft closes what the first client would read, if that is gone. Called with Handler.mu held.
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

// informs hands an interim response to the first client. One without room is lost, as it may be.
func (f *fill) informs(status int, header http.Header) {
	select {
	case f.inform <- interim{status, header.Clone()}:
	default:
	}
}

// run asks the origin and stores what may be.
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
		_ = response.Body.Close() // about something else: ask for all of it
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

// finish is called when all is said, be it by a panic.
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
	select {
	case <-f.opened:
	default:
		close(f.opened)
	}
	f.closeLeft()
	close(f.done)
}

var errPanicked = errors.New("forwarding panicked")

// open decides what becomes of a response.
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
	if !rfc9111.MayStore(f.request.Header, received, f.host.SetCookie) || variesByOurs(response.Header) || response.ContentLength > f.host.MaxBody {
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
	announced.Trailer = nil // it would be written while others read
	f.growing, f.response = &growth{changed: make(chan struct{})}, &announced
	close(f.opened)
	f.store()
}

// store reads the body, and keeps the response when all of it has come.
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
		case held > f.host.MaxBody, total > h.options.MaxBytes/2: // too long, or too many at a time
			limit.Stop()
			h.loosen(f)
			f.growing.end(nil, f.response.Body) // the rest is the first client's
			return
		}
	}
}
