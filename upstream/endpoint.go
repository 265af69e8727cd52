package upstream

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
)

// EndpointOptions describe an endpoint.
type EndpointOptions struct {
	Name    string // in errors, logs and spans, where the URL never appears
	URL     string
	Header  http.Header   // sent with every request: keys, for instance
	Timeout time.Duration // of one request with its wait for the budget; 10 s by default

	RequestsPerSecond float64 // or units, see Request.Cost; zero: unlimited
	Burst             int
	Units             int // that a request costs which does not say; 1 by default
	// Monthly is how many requests, or units, a month may take, at most the share of a day at once. With PlanClaim and
	// PlanClaimed the spending outlives the process.
	Monthly int

	MaxBody    int64                // bytes of an answer; 16 MiB by default
	Forwards   bool                 // requests of clients go on as they are, see Pool.Forward: nothing is decompressed or paused
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
	distance  atomic.Pointer[distance] // nil: not known
	controls  controls
	worker    worker
	usability usability
	log       *slog.Logger
	logged    atomic.Int64 // UNIX nanoseconds at which a bad answer was logged last
	tracing   tracing
	measures  measures
}

// NewEndpoint returns the endpoint that o describes; it calls nothing yet.
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

// Provider names who runs the endpoint: endpoints of one provider cannot confirm each other. It may hold a key.
func (e *Endpoint) Provider() string { return e.exchanger.base.Host }

// Replace has e go on where other was: cordoned by an operator, and with what that spent of its plan.
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

// SetDistance sets how many blocks the endpoint's newest one is from that of the others, below zero: behind, and
// whether that is too far, so that the others are asked first.
func (e *Endpoint) SetDistance(blocks int64, isOff bool) { e.distance.Store(&distance{blocks, isOff}) }

// Distance returns the number of the last SetDistance, if there was one.
func (e *Endpoint) Distance() (blocks int64, known bool) {
	if known := e.distance.Load(); known != nil {
		return known.blocks, true
	}
	return 0, false
}

// Do sends r once, whatever the answer says. A response is any of 2xx or 4xx but 429; everything else is an *Error.
func (e *Endpoint) Do(ctx context.Context, r Request) (Response, error) {
	a := e.Attempt(ctx, r, 1)
	return a.Response, a.Settle(ctx, nil)
}

// learn remembers the outcome of a request, and has the endpoint verified that has failed too often: also after a
// success, where no other request has done so meanwhile.
func (e *Endpoint) learn(ctx context.Context, r Request, took time.Duration, outcome error) {
	e.health.note(r.Kind, took, outcome)
	e.breaker.learn(outcome, &e.health)
	e.controls.learn(r, took, outcome)
	defer e.verify()
	if !IsFault(outcome) {
		return
	}
	now, last := time.Now(), e.logged.Load()
	isDue := now.Sub(time.Unix(0, last)) >= logEvery // it is asked again and again
	if ClassOf(outcome) == BadAnswer && isDue && e.logged.CompareAndSwap(last, now.UnixNano()) {
		e.log.WarnContext(ctx, "endpoint gave a bad answer", "endpoint", e.name, "error", outcome)
	}
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
	bad.Endpoint, bad.Err = e.name, e.exchanger.scrubber.scrub(r.secrets(), bad.Err)
	return bad
}

// Close ends what the endpoint does in the background and closes connections that wait for further use.
func (e *Endpoint) Close() {
	e.worker.close()
	(&http.Client{Transport: e.exchanger.transport}).CloseIdleConnections()
}
