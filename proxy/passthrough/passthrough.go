// Package passthrough is a caching reverse proxy for the paths that the gateway does not answer itself: a shared HTTP
// cache by the rules of package rfc9111, on the store of package cache, in front of origins that are called through
// package upstream.
//
// A request belongs to a Host by its Host field, and a Rule of that says whether it may be answered from the cache,
// goes on to the origin every time, or is refused. Forwarded bodies are streamed both ways, with interim responses and
// trailers; connections are not tunnelled.
//
// A response that may be stored is read into memory by a fill, a goroutine of its own that no slow client holds up, and
// streamed to the client whose request began it. Requests of the same resource wait for it; where it cannot be stored
// each goes on by itself. A fill whose clients have all left ends, unless its response is being stored.
//
// Nothing that a client sends decides what others get, unless the key or Vary has it: all other fields that origins may
// heed are dropped (drops), and net/http writes the request anew. Responses to requests with credentials are not stored
// unless they say so themselves, those that set cookies only for a Host with SetCookie.
package passthrough

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"crossgate/cache"
	"crossgate/cache/rfc9111"
	"crossgate/upstream"
)

// Name is that of this cache in Cache-Status and Via.
const Name = "crossgate"

// Errors by which a request is answered that does not go on.
var (
	ErrNoHost    = errors.New("no origin is configured for this host")
	ErrRefused   = errors.New("path is refused by the configuration")
	ErrMethod    = errors.New("method is not forwarded")
	ErrNotCached = errors.New("only-if-cached: nothing is stored that may be served")
)

// Origins are what requests go on to. It fulfils upstream.Pool.Forward for the pool of a host.
type Origins interface {
	Forward(ctx context.Context, host string, f upstream.Forward) (*http.Response, error)
}

// Options configure a Handler.
type Options struct {
	Origins  Origins
	MaxBytes int64 // of stored responses
	// Fail answers a request without a response: with one of the errors above or one of Origins.
	Fail func(w http.ResponseWriter, r *http.Request, err error)
	// Client is the address that the origin gets in X-Forwarded-For.
	Client func(*http.Request) netip.Addr
	Logger *slog.Logger
}

// Handler answers requests from its cache or an origin. Close it when it is no longer used.
type Handler struct {
	options Options
	store   *cache.Cache[*resource]
	hosts   atomic.Pointer[hosts]
	held    atomic.Int64 // bytes of bodies that are being read for the store

	mu    sync.Mutex
	fills map[cache.Key]*fill
	works sync.WaitGroup // fills and validations
	ctx   context.Context
	stop  context.CancelFunc
}

// fillLimit is how long it may take to read a response that is stored.
const fillLimit = 2 * time.Minute

// New returns a handler without hosts; see Configure.
func New(o Options) (*Handler, error) {
	store, err := cache.New(cache.Options[*resource]{
		MaxBytes: o.MaxBytes, Cost: (*resource).cost, Tags: func(s *resource) []cache.Key { return s.tags },
	})
	if err != nil {
		return nil, err
	}
	h := &Handler{options: o, store: store, fills: map[cache.Key]*fill{}}
	h.ctx, h.stop = context.WithCancel(context.Background())
	h.hosts.Store(&hosts{})
	return h, nil
}

// Configure replaces the hosts. Requests under way keep theirs, and stored responses stay.
func (h *Handler) Configure(all []Host) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hosts.Store(newHosts(all, h.hosts.Load()))
}

// IsOn reports whether there is any host.
func (h *Handler) IsOn() bool { return len(h.hosts.Load().all) > 0 }

// Close ends fills under way, waits for them and frees the cache.
func (h *Handler) Close() {
	h.stop()
	h.works.Wait()
	h.store.Close()
}

type exchange struct {
	w      http.ResponseWriter
	r      *http.Request
	host   *Host
	header http.Header // of the request, end to end
	wants  rfc9111.Directives
	key    cache.Key
	// keptHost is the Host, with its port, that the origin is asked for as well, in lower case; empty: for its own.
	keptHost string
	path     string    // escaped
	stored   *resource // found under key; nil: none was
	outcome  disposition
}

// ServeHTTP answers a request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host := h.hosts.Load().find(r.Host)
	switch {
	case host == nil:
		h.options.Fail(w, r, ErrNoHost)
		return
	case r.Method == http.MethodConnect, r.Method == http.MethodTrace, r.RequestURI == "*":
		h.options.Fail(w, r, ErrMethod)
		return
	}
	x := &exchange{w: w, r: r, host: host, header: endToEnd(r.Header), path: escapedPath(r)}
	if host.KeepHost {
		x.keptHost = strings.ToLower(r.Host)
	}
	defer func() { host.tally[x.outcome].Add(1) }()
	switch host.actionOf(r.URL.Path) {
	case Refuse:
		x.outcome = refused
		h.options.Fail(w, r, ErrRefused)
		return
	case Pass:
		h.pass(x, "bypass")
		return
	case Cache:
	}
	x.key = keyOf(host, x.keptHost, x.path, r.URL.RawQuery)
	isRead := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch {
	case !isRead:
		h.pass(x, "method")
	case r.ContentLength != 0, rfc9111.HasConditions(x.header):
		h.pass(x, "bypass")
	default:
		h.read(x)
	}
}

func (h *Handler) fail(x *exchange, err error) {
	x.outcome = failed
	x.limitWrite(writeSilence)
	h.options.Fail(x.w, x.r, err)
}
