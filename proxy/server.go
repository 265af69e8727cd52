package proxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/trace"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/proxy/transport"
	"crossgate/proxy/web"
	"crossgate/proxy/wire"
	"crossgate/quote"
	"crossgate/token"
	"crossgate/upstream"
)

// Limits of the listener.
const (
	readLimit  = 10 * time.Second
	writeLimit = 30 * time.Second
	idleLimit  = 60 * time.Second
	bodyBytes  = 64 << 10 // of a request; no path reads one
	drainLimit = 15 * time.Second
)

// Defaults of Options: how long the walk behind each path may take.
const (
	defaultOrderLimit = 12 * time.Second
	defaultSwapLimit  = 6 * time.Second
)

// Options says who answers and within which limits.
type Options struct {
	// Orders answers what became of orders and what is locked for takers.
	Orders Orders
	// Estimate answers a swap request (quote.Estimator.Estimate).
	Estimate func(context.Context, quote.Request) (quote.Estimate, error)
	// Serves tells whether swaps are estimated on a chain (quote.Estimator.Serves); nil: on all.
	Serves func(chain.ID) bool
	// Listed returns the tokens of a chain that are vouched for (token.Directory.Listed); nil: none.
	Listed func(chain.ID) []chain.Address
	// Tokens returns metadata of one chain's tokens in the sequence asked (token.Directory.Lookup).
	Tokens func(context.Context, chain.ID, ...chain.Address) ([]token.Token, error)
	// USD returns the known prices of one whole token (token.Directory.USD); nil: none is known.
	USD func(context.Context, ...token.Key) map[token.Key]*big.Rat
	// Chains are the chains that requests may name and that answers are written for.
	Chains chain.Registry
	// Ready says why requests should go elsewhere for now; nil, or a nil error: they are welcome.
	Ready func() error
	// Dependencies tell operators how everything is that the server needs; nil: nothing is told.
	Dependencies func(context.Context) []Dependency
	// Condition tells the same with its numbers, for the page of operators; nil: nothing is told.
	Condition func(context.Context) web.Condition
	// Endpoint returns the one of that name which serves a chain, by its id, a venue or a price service, and nil when there
	// is none; nil: operators command no endpoints.
	Endpoint func(of, name string) *upstream.Endpoint

	CacheBytes       int64          // of answers; 64 MiB when zero
	Shared           *cache.Shared  // level behind the cache that replicas have in common, and their clients' quotas; nil: none
	OrderLimit       time.Duration  // longest wait for orders and locked assets; 12 s when zero
	SwapLimit        time.Duration  // longest wait for a swap; 6 s when zero
	MaxLoads         int            // answers that are made at a time, the rest is declined; no bound when zero
	AddressQuota     Quota          // of each address without a key; no limit when zero
	ClientKeys       []ClientKey    // clients with quotas of their own
	TrustedProxies   []netip.Prefix // whose X-Forwarded-For counts
	AdminToken       string         // of operators who change something; nobody may when empty
	Streams          int            // most clients that follow an order at a time; 512 when zero
	Notice           time.Duration  // for which requests are still taken once /readyz has said no
	Traced           func() bool    // whether the next request is traced; nil: all are
	TrustTraceparent bool           // continue the traces of clients; otherwise they are only linked
	Logger           *slog.Logger   // slog.Default() when nil
}

// Server answers the documented paths.
type Server struct {
	options   Options
	encoder   wire.Encoder
	answers   *cache.Cache[answer]
	creations creations
	streams   streams
	pages     *web.Pages
	measures  *measures
	handler   http.Handler
	finding   http.Handler // tells keys instead of answers
	limiter   limiter
	prices    map[string]priced // by pattern of path
	log       *slog.Logger
	tracer    trace.Tracer
	draining  atomic.Bool
}

// New returns a server. Close it when it no longer serves.
func New(o Options) (*Server, error) {
	o.OrderLimit = cmp.Or(o.OrderLimit, defaultOrderLimit)
	o.SwapLimit = cmp.Or(o.SwapLimit, defaultSwapLimit)
	s := &Server{
		options: o,
		encoder: wire.Encoder{Chains: o.Chains},
		pages:   web.New(o.Chains),
		streams: newStreams(cmp.Or(o.Streams, defaultStreams)),
		log:     cmp.Or(o.Logger, slog.Default()),
		tracer:  otel.Tracer("crossgate/proxy"),
		limiter: limiter{address: o.AddressQuota, keys: o.ClientKeys, proxies: o.TrustedProxies, shared: o.Shared},
		prices:  map[string]priced{"/locked/:takerAddress": {swapCost, tracking}, "/swap": {swapCost, tracking}},
	}
	var err error
	s.answers, err = cache.New(cache.Options[answer]{
		MaxBytes:  o.CacheBytes,
		Cost:      answer.cost,
		Tags:      answer.tags,
		Holds:     answer.holds,
		MaxLoads:  o.MaxLoads,
		LoadLimit: max(o.OrderLimit, o.SwapLimit),
		Shared:    o.Shared,
		Codec:     cache.Codec[answer]{Encode: encodeAnswer, Decode: s.decode},
	})
	if err != nil {
		return nil, fmt.Errorf("answers: %w", err)
	}
	if s.measures, err = newMeasures(s.answers.Stats); err != nil {
		s.answers.Close()
		return nil, fmt.Errorf("instruments: %w", err)
	}
	s.handler = s.router()
	return s, nil
}

// Handler answers requests.
func (s *Server) Handler() http.Handler { return s.handler }

// Close waits for answers that are being made and frees the cache.
func (s *Server) Close() {
	s.measures.close()
	s.answers.Close()
}

// Run serves on listener until ctx ends, then gives notice by /readyz and lets requests under way finish.
func (s *Server) Run(ctx context.Context, listener net.Listener) error {
	server := transport.New(transport.Options{
		Handler:    s.handler,
		Refuse:     refuse,
		ReadLimit:  readLimit,
		WriteLimit: writeLimit,
		IdleLimit:  idleLimit,
		BodyBytes:  bodyBytes,
		Logger:     s.log,
	})
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	s.draining.Store(true)
	select {
	case err := <-served:
		return fmt.Errorf("serve: %w", err)
	case <-time.After(s.options.Notice):
	}
	s.streams.end()
	// ctx has ended; the drain needs time of its own.
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

// router puts the routes behind what every request goes through.
func (s *Server) router() http.Handler {
	engine, known := s.engine()
	return known.canonical(engine)
}

// engine knows all routes, and which of them are of the API.
func (s *Server) engine() (*gin.Engine, paths) {
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.HandleMethodNotAllowed = true
	engine.RedirectTrailingSlash = false // paths takes care of it, without a second request
	s.mountHealth(engine)
	engine.Use(s.observe, s.recoverPanic, allowOrigins, s.limitURL)
	if s.options.AddressQuota.Units > 0 || len(s.options.ClientKeys) > 0 {
		engine.Use(s.limitClients)
	}
	engine.NoRoute(s.noRoute)
	engine.NoMethod(s.noMethod)
	s.mountPages(engine)
	s.mountDocuments(engine)
	finding := gin.New()
	var known paths
	known = append(known, mount(s, engine, finding, s.ordersRoute())...)
	known = append(known, mount(s, engine, finding, s.orderRoute())...)
	known = append(known, mount(s, engine, finding, s.statusRoute())...)
	known = append(known, mount(s, engine, finding, s.orderIDsRoute())...)
	known = append(known, mount(s, engine, finding, s.orderIDTextsRoute())...)
	known = append(known, mount(s, engine, finding, s.lockedRoute())...)
	known = append(known, mount(s, engine, finding, s.swapRoute())...)
	known = append(known, mount(s, engine, finding, s.explanationRoute())...)
	known = append(known, mount(s, engine, finding, s.estimationRoute())...)
	known = append(known, mount(s, engine, finding, s.chainsRoute())...)
	known = append(known, mount(s, engine, finding, s.tokensRoute())...)
	s.finding = known.canonical(finding)
	return engine, known
}
