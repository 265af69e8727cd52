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

	// fairTime is how long an endpoint must have had before a deadline of the caller's counts against it:
	// excused callers must not be able to open its breaker.
	fairTime = 500 * time.Millisecond

	// namedEvery is how often an endpoint's bad answers are logged at most.
	namedEvery = time.Minute
)

// EndpointOptions describe an endpoint.
type EndpointOptions struct {
	Name    string // in errors, logs and spans, where the URL never appears
	URL     string
	Header  http.Header   // sent with every request: keys, for instance
	Timeout time.Duration // of one call with its wait for the budget; 10 s by default

	RequestsPerSecond float64 // or units, where Costs says what requests cost; zero: unlimited
	Burst             int
	// Costs are the units that JSON-RPC methods cost, under * those of any other and of plain requests; 1 where
	// nothing is said.
	Costs map[string]int
	// Monthly is how many requests, or units, a month may take. It is spent evenly: at most the share of a day at
	// once. PlanClaim and PlanClaimed let what is spent outlive the process, after which a day's share is there again else.
	Monthly int

	LongestBan time.Duration // for which it is put aside when it lies again and again; 30 min by default

	MaxBody    int64                // bytes of an answer; 16 MiB by default
	Client     *http.Client         // must honour contexts; one of its own by default
	Attributes []attribute.KeyValue // of every span: the chain or venue that the endpoint serves
	Logger     *slog.Logger         // hears of bad answers; nil: nobody does
}

// Endpoint is one URL that we call, guarded by a breaker and a rate budget. Safe for concurrent use.
type Endpoint struct {
	name       string
	base       *url.URL
	asks       http.Header // of every request; never changed, as requests share it
	posts      http.Header // of those with a body, likewise
	timeout    time.Duration
	maxBody    int64
	client     *http.Client
	attributes []attribute.KeyValue
	costs      map[string]int
	breaker    *breaker
	budget     *budget
	secrets    *strings.Replacer
	health     health
	head       head
	sound      sounds
	identity   atomic.Pointer[func() *Call] // what it proves itself by; nil when by nothing
	ban        ban
	longestBan time.Duration
	cordoned   atomic.Bool
	log        *slog.Logger // nil: nobody hears of bad answers
	named      atomic.Int64 // UNIX nanoseconds at which it was last told of as a liar

	working   sync.WaitGroup
	mu        sync.Mutex
	isProbing bool
	stopProbe context.CancelFunc
	closed    bool
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
		name:       o.Name,
		base:       base,
		asks:       headerOf(o.Header),
		posts:      headerOf(http.Header{"Content-Type": {"application/json"}}, o.Header),
		timeout:    cmp.Or(o.Timeout, defaultTimeout),
		maxBody:    cmp.Or(o.MaxBody, defaultMaxBody),
		client:     newClient(o.Client),
		attributes: o.Attributes,
		costs:      o.Costs,
		breaker:    newBreaker(o.Name),
		budget:     newBudget(o.RequestsPerSecond, o.Burst, o.Monthly),
		secrets:    newScrubber(o.Name, base, o.Header),
		measures:   newMeasures(o.Name, o.Attributes),
		longestBan: cmp.Or(o.LongestBan, defaultLongestBan),
		log:        o.Logger,
	}, nil
}

// headerOf is what every request says, with what the given headers say in addition or instead.
func headerOf(given ...http.Header) http.Header {
	header := http.Header{"User-Agent": {"crossgate"}, "Accept": {"application/json"}}
	for _, each := range given {
		maps.Copy(header, each.Clone())
	}
	return header
}

// newClient takes the transport of given, or a new one, and never follows a redirect: keys would go along.
func newClient(given *http.Client) *http.Client {
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
		}
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return client
}

// Name returns the configured name.
func (e *Endpoint) Name() string { return e.name }

// Request is what to ask, apart from where.
type Request struct {
	Method string // GET without a body, POST with one, by default
	Path   string // joined to the endpoint's URL
	Query  url.Values
	Header http.Header
	Body   []byte
	Cost   int // what it takes from the rate budget; what the endpoint's plain requests cost by default

	// Set by RPC alone: the method, for spans and latencies, and what any answer to these calls must look like.
	rpcMethod string
	calls     int
	valid     func(Response) error
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

// Response is a complete answer.
type Response struct {
	Status int
	Header http.Header
	Body   []byte

	from *Endpoint   // with its keys, for texts of the body that end up in errors
	sent http.Header // by the request, likewise
}

// Do asks once. An answer of 2xx or 4xx is a Response, but for 429; everything else is an *Error.
func (e *Endpoint) Do(ctx context.Context, r Request) (Response, error) {
	return e.attempt(ctx, r, &turn{number: 1}, nil)
}

// attempt asks once, in a turn of a job. What check says about the answer counts for the
// endpoint's health like the answer itself; nil accepts all.
func (e *Endpoint) attempt(ctx context.Context, r Request, turn *turn, check func(Response) error) (Response, error) {
	began := time.Now()
	ctx, span := startAttempt(ctx, e, r, turn.number)
	response, err := e.guarded(ctx, r, check)
	e.measures.attempted(ctx, time.Since(began), err)
	endAttempt(span, response, turn, err)
	return response, err
}

// unitsOf is what a request takes from the budget.
func (e *Endpoint) unitsOf(r Request) int { return cmp.Or(r.Cost, e.costOf("*")) }

// costOf is what a call of method takes from the budget.
func (e *Endpoint) costOf(method string) int { return cmp.Or(e.costs[method], e.costs["*"], 1) }

var errPanicked = errors.New("panicked")

func (e *Endpoint) guarded(caller context.Context, r Request, check func(Response) error) (Response, error) {
	ctx, cancel := context.WithTimeout(caller, e.timeout)
	defer cancel()
	defer time.AfterFunc(e.timeout, cancel).Stop() // a caller's deadline that is earlier now may move, see within
	if err := e.withheld(); err != nil {
		return Response{}, err
	}
	if !e.breaker.isClosed() {
		return Response{}, e.heldOff()
	}
	after, ok, err := e.budget.take(ctx, e.unitsOf(r))
	if err != nil {
		return Response{}, e.interrupted(caller, time.Now())
	}
	if !ok {
		return Response{}, &Error{Class: RateLimited, Endpoint: e.name, RetryAfter: after}
	}
	done, ok := e.breaker.enter()
	if !ok {
		return Response{}, e.heldOff()
	}
	outcome, started := errPanicked, time.Now() // unless something else is known
	defer func() {
		done(outcome)
		e.learn(caller, r, time.Since(started), outcome)
	}()

	response, err := e.exchange(ctx, caller, r)
	if err == nil && check != nil {
		err = e.refusal(r, check(response))
	}
	var limited *Error
	if errors.As(err, &limited) && limited.Class == RateLimited {
		e.budget.pause(limited.RetryAfter)
	}
	outcome = err
	return response, err
}

// learn remembers what became of a call, and has the endpoint verified when it fails too often.
func (e *Endpoint) learn(ctx context.Context, r Request, took time.Duration, outcome error) {
	e.health.note(r.rpcMethod, took, outcome)
	switch {
	case outcome == nil:
		e.sound.keep(r, took)
	case countsAgainst(outcome):
		if classOf(outcome) == BadAnswer {
			e.nameLiar(ctx, outcome)
		}
		e.verify()
	}
}

// nameLiar writes down that the endpoint gave a bad answer, once in a while: a liar is asked again and again.
func (e *Endpoint) nameLiar(ctx context.Context, lie error) {
	now, last := time.Now(), e.named.Load()
	if e.log == nil || now.Sub(time.Unix(0, last)) < namedEvery || !e.named.CompareAndSwap(last, now.UnixNano()) {
		return
	}
	e.log.WarnContext(ctx, "endpoint gave a bad answer", "endpoint", e.name, "error", lie)
}

// refusal makes an *Error of what a check said; a plain error is a bad answer.
func (e *Endpoint) refusal(r Request, err error) error {
	if err == nil {
		return nil
	}
	refused := &Error{Class: BadAnswer, Endpoint: e.name, Err: err}
	var said *Error
	if errors.As(err, &said) {
		*refused = *said
		refused.Endpoint = e.name
	}
	refused.Err = e.scrub(r.Header, refused.Err)
	return refused
}
