package upstream

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
)

// EndpointOptions describe an endpoint.
type EndpointOptions struct {
	Name    string // in errors, logs and spans, where the URL never appears
	URL     string
	Header  http.Header   // sent with every request: keys, for instance
	Timeout time.Duration // of one request, including its wait for the budget; 10 s by default

	RequestsPerSecond float64 // or units, see Request.Cost; zero: unlimited
	Burst             int
	Units             int // cost of a request without a Cost; 1 by default
	// Monthly is how many requests, or units, may be spent in a month, at most a day's share at once. With PlanClaim
	// and PlanClaimed the spending outlives the process.
	Monthly int

	MaxBody    int64                // of an answer, bytes; 16 MiB by default
	Forwards   bool                 // passes on clients' requests, see Pool.Forward: nothing is decompressed or paused
	Transport  http.RoundTripper    // must honour contexts; its own by default
	Attributes []attribute.KeyValue // of every span: the chain or venue that the endpoint serves
	Logger     *slog.Logger         // for bad answers; nil: they are not logged
}

// Endpoint is one URL that we call, guarded by a breaker and a rate budget. Safe for concurrent use.
type Endpoint struct {
	name      string
	exchanger *exchanger
	breaker   breaker
	budget    *Budget
	health    health
	distance  atomic.Pointer[distance] // nil: unknown
	controls  controls
	worker    worker
	usability usability
	log       *slog.Logger
	logged    atomic.Int64 // when a bad answer was last logged, UNIX nanoseconds
	tracing   tracing
	measures  measures
}

// NewEndpoint returns the endpoint that o describes, without calling it.
func NewEndpoint(o EndpointOptions) (*Endpoint, error) {
	if o.Name == "" {
		return nil, errors.New("endpoint without a name")
	}
	exchanger, err := newExchanger(o)
	if err != nil {
		return nil, err
	}
	e := &Endpoint{
		name:      o.Name,
		exchanger: exchanger,
		breaker:   breaker{endpoint: o.Name},
		budget:    newBudget(o),
		tracing:   tracing{endpoint: o.Name, attributes: o.Attributes},
		measures:  newMeasures(o.Name, o.Attributes),
		log:       cmp.Or(o.Logger, slog.New(slog.DiscardHandler)),
	}
	if o.Forwards {
		e.SetControl(addressRequest)
	}
	return e, nil
}

// Name returns the configured name.
func (e *Endpoint) Name() string { return e.name }

// Provider returns the provider's host, which may hold a key: endpoints of one provider cannot confirm each other.
func (e *Endpoint) Provider() string {
	host := strings.ToLower(e.exchanger.base.Host)
	return strings.TrimSuffix(strings.TrimSuffix(host, ":443"), ":80")
}

// Replace makes e take over from other: cordoned if other was, and with other's spending of the monthly plan.
func (e *Endpoint) Replace(other *Endpoint) {
	e.usability.cordoned.Store(other.usability.cordoned.Load())
	if plan, before := e.budget.plan, other.budget.plan; plan != nil && before != nil {
		plan.spent = before.spent
	}
}

const logEvery = time.Minute

// distance is how far an endpoint's newest block is from that of others.
type distance struct {
	blocks int64 // below zero: behind
	isOff  bool
}

// SetDistance sets how many blocks the endpoint's newest block is ahead of the others', or behind if below zero, and
// whether that is too far, so that the others are asked first.
func (e *Endpoint) SetDistance(blocks int64, isOff bool) { e.distance.Store(&distance{blocks, isOff}) }

// Distance returns the number of blocks last passed to SetDistance, if any.
func (e *Endpoint) Distance() (blocks int64, known bool) {
	if known := e.distance.Load(); known != nil {
		return known.blocks, true
	}
	return 0, false
}

// Do sends r once and accepts any answer: 2xx and 4xx except 429 are responses, everything else is an *Error.
func (e *Endpoint) Do(ctx context.Context, r Request) (Response, error) {
	a := e.Attempt(ctx, r, 1)
	return a.Response, a.Settle(ctx, nil)
}

// learn records the outcome of a request and verifies the endpoint if it has failed too often: even after a success,
// since no other request may have done so meanwhile.
func (e *Endpoint) learn(ctx context.Context, r Request, took time.Duration, outcome error) {
	e.health.note(r.Kind, took, outcome)
	e.breaker.learn(outcome, &e.health)
	e.controls.learn(r, took, outcome)
	defer e.verify()
	if !IsFault(outcome) {
		return
	}
	now, last := time.Now(), e.logged.Load()
	isDue := now.Sub(time.Unix(0, last)) >= logEvery // it may be asked again and again
	if ClassOf(outcome) == BadAnswer && isDue && e.logged.CompareAndSwap(last, now.UnixNano()) {
		e.log.WarnContext(ctx, "endpoint gave a bad answer", "endpoint", e.name, "error", outcome)
	}
}

// badAnswer turns the fault that a check found into an *Error; a plain error becomes a bad answer.
func (e *Endpoint) badAnswer(r Request, err error) error {
	if err == nil {
		return nil
	}
	bad := &Error{Class: BadAnswer, Err: err}
	if known, ok := errors.AsType[*Error](err); ok {
		*bad = *known
	}
	bad.Endpoint, bad.Err = e.name, e.exchanger.scrubber.scrub(r.secrets(), bad.Err)
	return bad
}

// Close stops the endpoint's background work and closes idle connections.
func (e *Endpoint) Close() {
	e.worker.close()
	(&http.Client{Transport: e.exchanger.transport}).CloseIdleConnections()
}
