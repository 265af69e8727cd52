package upstream

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/trace"
)

// Attempt is one request to one endpoint and its response, not yet judged. Its creator must settle it exactly once:
// only then do the breaker, the endpoint's health, the measurements and the span learn the outcome.
type Attempt struct {
	Endpoint *Endpoint
	Response Response
	Err      error // nil if there is a response to judge

	request Request
	span    trace.Span
	began   time.Time
	sent    time.Time // when it was admitted; zero if it was not
}

// Reply is an attempt together with whatever its creator decodes from the response.
type Reply interface {
	// Judge returns the fault of the response, or nil to accept it. It is only called if there is a response.
	Judge(ctx context.Context) error
	attempt() *Attempt // implemented by embedding an *Attempt
}

func (a *Attempt) attempt() *Attempt { return a }

var errPanicked = errors.New("panicked")

// Attempt sends r once, as far as the endpoint's breaker and budget allow. A response is any of 2xx or 4xx but 429;
// everything else is an *Error. turn is the endpoint's place in a race, from one on.
func (e *Endpoint) Attempt(caller context.Context, r Request, turn int) *Attempt {
	a := &Attempt{Endpoint: e, request: r, began: time.Now()}
	caller, a.span = e.tracing.start(caller, r, turn)
	isPanic := true
	defer func() {
		if isPanic {
			a.Err = errPanicked
			_ = a.Settle(caller, nil)
		}
	}()
	ctx, cancel := context.WithTimeout(caller, e.exchanger.timeout)
	defer cancel()
	// In addition to WithTimeout, which relies on the caller's deadline if that is earlier: it may move meanwhile.
	defer time.AfterFunc(e.exchanger.timeout, cancel).Stop()
	if a.Err = a.enter(ctx, caller); a.Err == nil {
		a.Response, a.Err = e.exchanger.exchange(ctx, caller, r)
	}
	isPanic = false
	return a
}

// enter admits the request, spending its units of the budget, or returns the error to refuse it with.
func (a *Attempt) enter(ctx, caller context.Context) error {
	e := a.Endpoint
	if err := e.unusable(); err != nil {
		return err
	}
	if !e.breaker.isClosed() {
		return e.breaker.refusal()
	}
	if a.request.Admit != nil {
		if after, ok, err := a.request.Admit(ctx, e); err != nil {
			return e.exchanger.interrupted(caller, time.Now())
		} else if !ok {
			return &Error{Class: RateLimited, Endpoint: e.name, RetryAfter: after, Partial: true}
		}
	}
	after, ok, err := e.budget.Take(ctx, e.budget.unitsOf(a.request))
	if err != nil {
		return e.exchanger.interrupted(caller, time.Now())
	}
	if !ok {
		refused := &Error{Class: RateLimited, Endpoint: e.name, RetryAfter: after}
		if !e.budget.isPaused() { // so our own rate refused it
			refused.Err = ErrShort
		}
		return refused
	}
	if !e.breaker.isClosed() {
		return e.breaker.refusal()
	}
	a.sent = time.Now()
	return nil
}

// Settle ends the attempt and returns why it failed, nil for success. wrong is the fault of its response: a plain error
// makes it a bad answer, an *Error keeps its class, and ErrDeclined is not a fault.
func (a *Attempt) Settle(ctx context.Context, wrong error) error {
	e := a.Endpoint
	if a.span.IsRecording() {
		ctx = trace.ContextWithSpan(ctx, a.span)
	}
	declined := a.Err == nil && errors.Is(wrong, ErrDeclined)
	if a.Err == nil && !declined {
		a.Err = e.badAnswer(a.request, wrong)
	}
	if !a.sent.IsZero() {
		switch said := detailsOf(a.Err); {
		case said.Closed:
			e.close(ctx, said)
		case said.Class == RateLimited && !said.Partial:
			if said.InPart {
				e.budget.Answered()
			}
			e.budget.Pause(said.RetryAfter)
		case answered(a.Err):
			e.budget.Answered()
		}
		outcome := a.Err
		if declined {
			outcome = &Error{Class: Rejected, Endpoint: e.name, Err: ErrDeclined}
		}
		e.learn(ctx, a.request, time.Since(a.sent), outcome)
	}
	e.measures.attempted(ctx, time.Since(a.began), a.Err)
	endAttempt(a.span, a.Response, a.Err)
	return a.Err
}
