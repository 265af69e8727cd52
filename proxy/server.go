package proxy

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.37.0"
	"go.opentelemetry.io/otel/trace"

	"crossgate/cache"
	"crossgate/cache/shared"
	"crossgate/chain"
	"crossgate/order"
	"crossgate/proxy/passthrough"
	"crossgate/proxy/quota"
	"crossgate/proxy/shadow"
	"crossgate/proxy/transport"
	"crossgate/proxy/web"
)

// Limits of the public listener.
const (
	readLimit  = 10 * time.Second
	writeLimit = 30 * time.Second
	idleLimit  = 620 * time.Second // load balancers keep connections for up to 600 s
	bodyBytes  = 64 << 10
	drainLimit = 15 * time.Second
)

// Defaults of Limits.
const (
	defaultOrderLimit = 12 * time.Second
	defaultSwapLimit  = 6 * time.Second
)

// Index is the part of the order index (query.Index) that the server itself uses.
type Index interface {
	// Basis returns the basis of an answer that would cover everything indexed now.
	Basis() order.Basis
	// Late returns why an answer is late: query.ErrUnavailable, *query.UnheardError of searches, or nil if unknown.
	Late(chain.TxHash) error
}

// Options configures a Server. Its functions are called concurrently by requests and loads.
type Options struct {
	Index func() Index // returns the current one
	// Unready returns why other replicas should be used instead, nil if they need not. A nil Unready never objects.
	Unready func() error
	Chains  chain.Registry // chains that requests may name and answers are written for
	Shared  *shared.Cache  // second level of the cache, and quotas across replicas; nil if none
	Quotas  quota.Options  // quotas of clients
	Telemetry

	Passthrough Passthrough // of paths not answered here

	TLS    *tls.Config  // for the listener, which offers h2 and http/1.1; nil for plain HTTP
	Logger *slog.Logger // slog.Default() if nil

	Limits
}

// Limits bounds concurrency and durations. Zero values mean the defaults.
type Limits struct {
	OrderLimit time.Duration // for loading orders and locked assets; 12 s by default
	SwapLimit  time.Duration // for loading a swap; 6 s by default
	MaxLoads   int           // concurrent loads, beyond which requests fail as OVERLOADED; unbounded by default
	CacheBytes int64         // of cached answers; 64 MiB by default
	Notice     time.Duration // how long requests are still served after /readyz turned unavailable

	Streams           int // concurrent streams; 2048 by default
	StreamsPerAddress int // concurrent streams of one address; 64 by default
	Connections       int // concurrent connections; unbounded by default
	PerAddress        int // connections of one address, unless of a trusted proxy; unbounded by default
}

// Telemetry configures traces and log lines of requests.
type Telemetry struct {
	Traced  float64 // share of requests to trace, from 0 to 1
	Clients ClientDetail
}

// Server serves the documented paths and the pages.
type Server struct {
	Options  Options
	answers  *cache.Cache[answer]
	streams  *streams
	pages    *web.Pages
	measures *measures
	router   *router

	passthrough *passthrough.Handler  // of other paths
	shadow      *shadow.Shadow        // compares answers with those of origins
	callbacks   []metric.Registration // which observe counts at every collection

	patience time.Duration // of clients: the constant except in tests
	turn     turn
	quotas   *quota.Limiter
	log      *slog.Logger
	tracer   trace.Tracer
	draining atomic.Bool
	clients  atomic.Pointer[ClientDetail]
}

// New returns a server; Close it after Run.
func New(o Options) (*Server, error) {
	o.OrderLimit = cmp.Or(o.OrderLimit, defaultOrderLimit)
	o.SwapLimit = cmp.Or(o.SwapLimit, defaultSwapLimit)
	s := &Server{
		Options: o,
		pages:   web.New(o.Chains),
		streams: &streams{
			most: cmp.Or(o.Streams, defaultStreams), share: cmp.Or(o.StreamsPerAddress, defaultStreamsPerAddress), from: map[netip.Prefix]int{},
		},
		log:      cmp.Or(o.Logger, slog.Default()),
		tracer:   otel.Tracer("crossgate/proxy"),
		quotas:   quota.New(o.Quotas, o.Shared),
		patience: patience,
		turn:     turn{yield: runtime.Gosched, few: int64(4 * runtime.GOMAXPROCS(0))},
	}
	s.streams.ending, s.streams.end = context.WithCancel(context.Background())
	s.SetClients(o.Clients)
	if err := s.open(o); err != nil {
		s.Close()
		return nil, err
	}
	s.router = newRouter(s)
	s.mountDocuments()
	return s, nil
}

func (s *Server) open(o Options) (err error) {
	if err = s.openPassthrough(o.Passthrough); err != nil {
		return fmt.Errorf("passthrough: %w", err)
	}
	s.answers, err = cache.New(cache.Options[answer]{
		MaxBytes:  o.CacheBytes,
		Cost:      answer.cost,
		Tags:      answer.tags,
		Holds:     answer.holds,
		MaxLoads:  o.MaxLoads,
		LoadLimit: max(o.OrderLimit, o.SwapLimit),
		Shared:    o.Shared,
		Codec:     cache.Codec[answer]{Encode: encodeAnswer, Decode: s.decode},
		Purged:    s.passthrough.Purged,
	})
	if err != nil {
		return fmt.Errorf("answers: %w", err)
	}
	s.measures = s.newMeasures()
	s.shadow = shadow.New(quietOrigins{o.Passthrough.Origins}, s.log)
	s.SetShadow(o.Passthrough.Shadow)
	s.observeCounts("crossgate.shadow.answers",
		"Answers sampled for comparison with the origin's, by route and gravest difference.", semconv.HTTPRouteKey, s.shadow.EachCount)
	return nil
}

// SetLimits changes quotas and the maximum of concurrent loads (0: unbounded). Requests in flight are unaffected.
func (s *Server) SetLimits(quotas quota.Options, maxLoads int) {
	s.quotas.Replace(quotas)
	s.answers.SetMaxLoads(maxLoads)
}

// Handler returns the handler of the public listener.
func (s *Server) Handler() http.Handler { return s.router.handler() }

// Close waits for loads in flight and frees the cache.
func (s *Server) Close() {
	for _, each := range s.callbacks {
		_ = each.Unregister() // fails only if called twice
	}
	if s.answers != nil {
		s.answers.Close()
	}
	if s.passthrough != nil {
		s.passthrough.Close()
	}
	if s.shadow != nil {
		s.shadow.Close()
	}
}

// Run serves on listener until ctx ends. Then /readyz turns unavailable and every response closes its connection; after
// Limits.Notice the listener closes, and requests in flight have drainLimit to finish.
func (s *Server) Run(ctx context.Context, listener net.Listener) error {
	server := transport.New(transport.Options{
		Handler:     s.router.handler(),
		Refuse:      func(w http.ResponseWriter, status int) { refuse(w, refusalKind(status)) },
		RefusePlain: func(w http.ResponseWriter) { refuse(w, notSecured) },
		ReadLimit:   readLimit,
		WriteLimit:  writeLimit,
		IdleLimit:   idleLimit,
		BodyBytes:   bodyBytes,
		Stream:      func(r *http.Request) bool { return s.passthrough.IsOn() && !s.router.paths.has(r.URL.Path) },
		TLS:         s.Options.TLS,
		Connections: transport.Limits{
			All: s.Options.Connections, PerAddress: s.Options.PerAddress, Exempt: s.quotas.Trusts,
		},
		Logger: s.log,
	})
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	s.draining.Store(true)
	server.Retire()
	select {
	case err := <-served:
		return fmt.Errorf("serve: %w", err)
	case <-time.After(s.Options.Notice):
	}
	s.streams.end()
	// ctx has ended already.
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainLimit)
	defer cancel()
	err := server.Shutdown(drain)
	if err != nil {
		err = errors.Join(fmt.Errorf("drain: %w", err), server.Close())
	}
	if ended := <-served; ended != nil {
		err = errors.Join(err, fmt.Errorf("serve: %w", ended))
	}
	return err
}

var errDraining = errors.New("server is shutting down")

// Ready returns why load balancers should send requests elsewhere, or nil if this replica accepts them.
func (s *Server) Ready() error {
	if s.draining.Load() {
		return errDraining
	}
	if s.Options.Unready == nil {
		return nil
	}
	return s.Options.Unready()
}

// mountHealth adds /healthz (liveness) and /readyz (readiness), which are neither traced nor logged.
func (s *Server) mountHealth(engine *gin.Engine) {
	alive := func() error { return nil }
	for path, state := range map[string]func() error{"/healthz": alive, "/readyz": s.Ready} {
		probe := func(c *gin.Context) {
			status, body := http.StatusOK, `{"status":"ok"}`
			if err := state(); err != nil {
				status, body = http.StatusServiceUnavailable, `{"reason":"`+err.Error()+`","status":"unavailable"}`
			}
			c.Writer.Header()["Cache-Control"] = noStore
			c.Data(status, jsonType[0], []byte(body+"\n"))
		}
		engine.GET(path, probe)
		engine.HEAD(path, probe)
	}
}
