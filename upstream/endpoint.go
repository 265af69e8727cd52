package upstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
)

const (
	defaultTimeout = 10 * time.Second
	defaultMaxBody = 16 << 20

	// fairTime is how long an endpoint must have had before a caller's deadline counts against it: callers in a hurry
	// must not be able to open its breaker.
	fairTime = 500 * time.Millisecond

	// logEvery is how often an endpoint's bad answers are logged at most.
	logEvery = time.Minute
)

// EndpointOptions describe an endpoint.
type EndpointOptions struct {
	Name string // in errors, logs and spans, where the URL never appears
	URL  string
	// PublicHost is the host in lower case, or the domain at its end, where somebody else than the operator has
	// published it, so that no key is in it; empty: no part of a host that is a name is told.
	PublicHost string
	Header     http.Header   // sent with every request: keys, for instance
	Timeout    time.Duration // of one request with its wait for the budget; 10 s by default

	RequestsPerSecond float64 // or units, where Costs says what requests cost; zero: unlimited
	Burst             int
	// Costs are the units that JSON-RPC methods cost, under * those of any other and of plain requests; 1 by default.
	Costs map[string]int
	// Monthly is how many requests, or units, a month may take. It is spent evenly: at most the share of a day at
	// once. PlanClaim and PlanClaimed let what is spent outlive the process; otherwise a restart restores a day's
	// share.
	Monthly int

	LongestQuarantine time.Duration // after repeated wrong answers; 30 min by default

	MaxBody    int64                // bytes of an answer; 16 MiB by default
	Forwards   bool                 // requests of clients go on as they are, see Pool.Forward: nothing is decompressed
	Client     *http.Client         // must honour contexts; its own by default
	Attributes []attribute.KeyValue // of every span: the chain or venue that the endpoint serves
	Logger     *slog.Logger         // for bad answers; nil: they are not logged
}

// Endpoint is one URL that we call, guarded by a breaker and a rate budget. Safe for concurrent use.
type Endpoint struct {
	name              string
	base              *url.URL
	asks              http.Header // of every request; never changed, as requests share it
	posts             http.Header // of those with a body, likewise
	given             http.Header // as configured, likewise
	timeout           time.Duration
	maxBody           int64
	client            *http.Client
	attributes        []attribute.KeyValue
	server            []attribute.KeyValue // where it is, as far as spans tell
	costs             map[string]int
	breaker           *breaker
	budget            *budget
	secrets           *strings.Replacer
	health            health
	head              head
	replays           replays
	control           atomic.Pointer[Request] // that no caller has a part in; nil: none is known
	failed            atomic.Pointer[Request] // the last that it failed at; nil: none
	quarantine        quarantine
	closed            quarantine // to us, by its own word
	longestQuarantine time.Duration
	cordoned          atomic.Bool
	log               *slog.Logger // nil: nobody hears of bad answers
	logged            atomic.Int64 // UNIX nanoseconds at which a bad answer of it was last logged

	working   sync.WaitGroup
	mu        sync.Mutex
	isProbing bool
	stopProbe context.CancelFunc
	isClosed  bool
	measures  measures
}

// NewEndpoint returns the endpoint that o describes; it calls nothing yet.
func NewEndpoint(o EndpointOptions) (*Endpoint, error) {
	if o.Name == "" {
		return nil, errors.New("endpoint without a name")
	}
	base, err := url.Parse(o.URL)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return nil, fmt.Errorf("endpoint %s: URL is not http(s)://host/…", o.Name)
	}
	if base.Path == "" {
		base.Path = "/" // else a request's path, joined to nothing, would begin without one
	}
	return &Endpoint{
		name:              o.Name,
		base:              base,
		asks:              headerOf(o.Header),
		given:             o.Header.Clone(),
		posts:             headerOf(http.Header{"Content-Type": {"application/json"}}, o.Header),
		timeout:           cmp.Or(o.Timeout, defaultTimeout),
		maxBody:           cmp.Or(o.MaxBody, defaultMaxBody),
		client:            newClient(o.Client, o.Forwards),
		attributes:        o.Attributes,
		server:            serverOf(o.Name, base, o.PublicHost),
		costs:             o.Costs,
		breaker:           newBreaker(o.Name),
		budget:            newBudget(o.RequestsPerSecond, o.Burst, o.Monthly),
		secrets:           NewScrubber(o.Name, base, o.PublicHost, o.Header),
		measures:          newMeasures(o.Name, o.Attributes),
		longestQuarantine: cmp.Or(o.LongestQuarantine, defaultLongestQuarantine),
		log:               o.Logger,
	}, nil
}

// headerOf is the header of every request, with the given ones in addition or instead.
func headerOf(given ...http.Header) http.Header {
	header := http.Header{"User-Agent": {"crossgate"}, "Accept": {"application/json"}}
	for _, each := range given {
		maps.Copy(header, each.Clone())
	}
	return header
}

// newClient has the transport of given, or a new one, and never follows a redirect: keys would go along.
func newClient(given *http.Client, forwards bool) *http.Client {
	client := &http.Client{}
	if given != nil {
		*client = *given
	}
	if client.Transport == nil {
		client.Transport = &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			ForceAttemptHTTP2:      true,
			MaxIdleConnsPerHost:    32,
			MaxConnsPerHost:        128,
			IdleConnTimeout:        90 * time.Second,
			TLSHandshakeTimeout:    5 * time.Second,
			MaxResponseHeaderBytes: 64 << 10,
			DisableCompression:     forwards,
		}
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return client
}

// Name returns the configured name.
func (e *Endpoint) Name() string { return e.name }

// Request is an HTTP request without its host.
type Request struct {
	Method string // GET without a body, POST with one, by default
	Path   string // joined to the endpoint's URL
	Query  url.Values
	Header http.Header
	Keys   []string // that are in path, query or body: errors do not tell them, as they tell nothing of Header
	Body   []byte
	Cost   int // units of the rate budget; by default what the endpoint's plain requests cost

	// Of JSON-RPC: the method that spans name and latencies are kept by, empty for other requests; how many calls the
	// body holds; and the methods of a batch, for spans, each once.
	RPCMethod  string
	Calls      int
	RPCMethods []string
	// Check says what is wrong with a response that the request may have, whoever gives it: probes repeat requests that
	// were answered well. Nil accepts all.
	Check func(Response) error
	// AnyStatus says that the maker of the request reads responses of every status, and what Response.StatusError says
	// of them: JSON-RPC servers put their reasons under any.
	AnyStatus bool
	// Admit waits until an endpoint may be asked requests of this kind, beside its budget; without time for that it
	// returns when to retry. Nil: it may.
	Admit func(ctx context.Context, e *Endpoint) (retryAfter time.Duration, ok bool, err error)
	// Suits says which endpoints can be expected to answer, by what is known of them; nil: all. Nothing is repeated at
	// another one for the sake of knowledge alone.
	Suits func(*Endpoint) bool
}

func (r Request) method() string {
	switch {
	case r.Method != "":
		return r.Method
	case r.Body != nil:
		return http.MethodPost
	}
	return http.MethodGet
}

// Response is a complete HTTP response.
type Response struct {
	Status int
	Header http.Header
	Body   []byte

	from *Endpoint // with its keys, for texts of the body that end up in errors
	sent sent      // by the request, likewise
}

// Do sends r once, whatever the answer says. A response is any of 2xx or 4xx but 429; everything else is an *Error.
func (e *Endpoint) Do(ctx context.Context, r Request) (Response, error) {
	a := e.Attempt(ctx, r, Turn{number: 1})
	return a.Response, a.Settle(ctx, nil)
}

// unitsOf is what a request takes from the budget.
func (e *Endpoint) unitsOf(r Request) int { return cmp.Or(r.Cost, e.CostOf("*")) }

// CostOf returns what a call of a JSON-RPC method takes from the budget.
func (e *Endpoint) CostOf(method string) int { return cmp.Or(e.costs[method], e.costs["*"], 1) }

// learn remembers the outcome of a request, and has the endpoint verified when it fails too often.
func (e *Endpoint) learn(ctx context.Context, r Request, took time.Duration, outcome error) {
	e.health.note(r.RPCMethod, took, outcome)
	switch {
	case outcome == nil:
		e.replays.keep(r, took)
	case IsFault(outcome):
		if isSmall(r) {
			e.failed.Store(&r)
		}
		if ClassOf(outcome) == BadAnswer {
			e.logBadAnswer(ctx, outcome)
		}
		e.verify()
	}
}

// logBadAnswer logs that the endpoint gave a bad answer, once in a while: such an endpoint is asked again and again.
func (e *Endpoint) logBadAnswer(ctx context.Context, cause error) {
	now, last := time.Now(), e.logged.Load()
	if e.log == nil || now.Sub(time.Unix(0, last)) < logEvery || !e.logged.CompareAndSwap(last, now.UnixNano()) {
		return
	}
	e.log.WarnContext(ctx, "endpoint gave a bad answer", "endpoint", e.name, "error", cause)
}

// badAnswer makes an *Error of what a check found wrong; a plain error is a bad answer.
func (e *Endpoint) badAnswer(r Request, err error) error {
	if err == nil {
		return nil
	}
	bad := &Error{Class: BadAnswer, Err: err}
	if known, ok := errors.AsType[*Error](err); ok {
		*bad = *known
	}
	bad.Endpoint, bad.Err = e.name, e.scrub(r.secrets(), bad.Err)
	return bad
}
