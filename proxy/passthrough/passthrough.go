// Package passthrough is a caching reverse proxy for the paths that the gateway does not answer itself: a shared HTTP
// cache by the rules of package rfc9111, on the store of package cache, in front of origins that are called through
// package upstream.
//
// A request belongs to a Host by its Host field. One of that host's Rules decides whether it may be answered from the
// cache, is always forwarded to the origin, or is rejected. Forwarded bodies are streamed both ways, with interim
// responses and trailers; connections are not tunnelled.
//
// A response that may be stored is read into memory by a fill, a goroutine of its own that no slow client delays, and
// streamed to the client whose request began it. Requests for the same resource wait for it; if it cannot be stored,
// each is forwarded by itself. A fill whose clients have all left is canceled, unless its response is being stored.
//
// Nothing that a client sends affects other clients' responses, unless the key or Vary covers it: all other fields that
// origins may heed are dropped (drops), and net/http writes the request anew. Responses to requests with credentials
// are stored only if they permit it themselves, those that set cookies only for a Host with SetCookie.
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

// Name identifies this cache in Cache-Status and Via.
const Name = "crossgate"

// Errors of requests that are not forwarded.
var (
	ErrNoHost    = errors.New("no origin is configured for this host")
	ErrRefused   = errors.New("path is refused by the configuration")
	ErrMethod    = errors.New("method is not forwarded")
	ErrNotCached = errors.New("only-if-cached: nothing is stored that may be served")
	ErrLoop      = errors.New("an origin's address leads back to this gateway")
)

// mostPasses is how often a request may have passed a gateway: one may be the origin of another.
const mostPasses = 3

// Origins forwards requests to the origins of hosts, as upstream.Pool.Forward does.
type Origins interface {
	Forward(ctx context.Context, host string, f upstream.Forward) (*http.Response, error)
}

// Options configures a Handler.
type Options struct {
	Origins  Origins
	MaxBytes int64 // maximum of stored responses
	// Client returns the address to send to the origin in X-Forwarded-For.
	Client func(*http.Request) netip.Addr
	Logger *slog.Logger
}

// Handler answers requests from its cache or an origin. Close it after use.
type Handler struct {
	options Options
	store   *cache.Cache[*resource]
	hosts   atomic.Pointer[hosts]
	held    atomic.Int64 // bytes of bodies being read for the store

	mu       sync.Mutex
	fills    map[cache.Key]*fill // that requests may join
	underway map[cache.Key]int   // number of all fills
	works    sync.WaitGroup      // fills and validations
	ctx      context.Context
	stop     context.CancelFunc
}

// fillLimit bounds the time to read a response that is stored.
const fillLimit = 2 * time.Minute

// New returns a handler without hosts; see Configure.
func New(o Options) (*Handler, error) {
	store, err := cache.New(cache.Options[*resource]{
		MaxBytes: o.MaxBytes, Cost: (*resource).cost, Tags: func(s *resource) []cache.Key { return s.tags },
	})
	if err != nil {
		return nil, err
	}
	h := &Handler{options: o, store: store, fills: map[cache.Key]*fill{}, underway: map[cache.Key]int{}}
	h.ctx, h.stop = context.WithCancel(context.Background())
	h.hosts.Store(&hosts{})
	return h, nil
}

// Configure replaces the hosts. Requests in flight keep theirs, and stored responses stay.
func (h *Handler) Configure(all []Host) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hosts.Store(newHosts(all, h.hosts.Load()))
}

// IsOn reports whether there is any host.
func (h *Handler) IsOn() bool { return len(h.hosts.Load().all) > 0 }

// Close cancels fills in flight, waits for them and frees the cache.
func (h *Handler) Close() {
	h.stop()
	h.works.Wait()
	h.store.Close()
}

type exchange struct {
	w      http.ResponseWriter
	r      *http.Request
	host   *Host
	header http.Header // end-to-end fields of the request
	wants  rfc9111.Directives
	key    cache.Key
	// keptHost is the Host with its port, in lower case, that the origin gets; empty if it gets its own.
	keptHost string
	path     string    // escaped
	stored   *resource // found under key; nil if none was
	outcome  disposition
	err      error // why the request is unanswered; nil if it is not
}

// Serve answers a request, or returns why it has not: one of the errors above or one of Origins.
func (h *Handler) Serve(w http.ResponseWriter, r *http.Request) error {
	host := h.hosts.Load().find(r.Host)
	switch {
	case host == nil:
		return ErrNoHost
	case r.Method == http.MethodConnect, r.Method == http.MethodTrace, r.RequestURI == "*":
		return ErrMethod
	case strings.Count(strings.Join(r.Header["Via"], ","), " "+Name) >= mostPasses:
		return ErrLoop
	}
	x := &exchange{w: w, r: r, host: host, header: endToEnd(r.Header), path: escapedPath(r)}
	if host.KeepHost {
		x.keptHost = strings.ToLower(r.Host)
	}
	defer func() { host.tally[x.outcome].Add(1) }()
	action := host.actionOf(r.URL.Path, x.path)
	switch isRead := r.Method == http.MethodGet || r.Method == http.MethodHead; {
	case action == Refuse:
		x.outcome = refused
		return ErrRefused
	case action == Cache && !isRead:
		h.pass(x, "method")
	case action == Pass, r.ContentLength != 0, rfc9111.HasConditions(x.header):
		h.pass(x, "bypass")
	default:
		x.key = keyOf(host, x.keptHost, x.path, r.URL.RawQuery)
		h.read(x)
	}
	return x.err
}

func (x *exchange) fail(err error) {
	x.outcome, x.err = failed, err
	x.limitWrite(writeSilence)
}

// disposition is the outcome of a request.
type disposition uint8

const (
	unanswered disposition = iota // the client left
	hit
	stale
	staleIfError
	validated
	miss
	collapsed // answered with the response to another's request
	passed
	refused
	failed
	outcomes
)

// outcomeNames are published as metric labels.
var outcomeNames = [outcomes]string{
	"left", "hit", "stale", "stale-if-error", "validated", "miss", "collapsed", "pass", "refused", "failed",
}

type tally [outcomes]atomic.Int64

// EachCount calls do with how often requests to each configured host had an outcome since the start: hit, stale,
// stale-if-error, validated, miss, collapsed, pass, refused, failed or left.
func (h *Handler) EachCount(do func(host, outcome string, times uint64)) {
	for _, host := range h.hosts.Load().all {
		for i := range host.tally {
			if times := host.tally[i].Load(); times > 0 {
				do(host.Name, outcomeNames[i], uint64(times))
			}
		}
	}
}
