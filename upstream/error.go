package upstream

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Class is the kind of a failure, by which callers decide what to do next.
type Class uint8

// The classes. Only Unreachable, Timeout, ServerError and BadAnswer are held against an endpoint, unless a caller
// may have caused them.
const (
	Unreachable Class = iota + 1 // no connection, or it broke
	Timeout                      // no answer in the time given
	ServerError                  // HTTP 5xx
	RateLimited                  // our own budget is spent, or HTTP 429
	BreakerOpen                  // not called at all: it failed too often lately
	BadAnswer                    // the response cannot be an answer to the request
	Rejected                     // understood the request and declined it: HTTP 4xx, a JSON-RPC error
	Canceled                     // the caller left
	Unusable                     // not called at all: cordoned by an operator, in quarantine, or denying us access
)

var classNames = [...]string{
	"unclassified", "unreachable", "timeout", "server error", "rate limited", "breaker open", "bad answer", "rejected", "canceled", "withheld",
}

// String is the class in words; spans and metrics carry it as an attribute.
func (c Class) String() string { return classNames[c] }

// Error says how one endpoint failed, or how every endpoint of a pool did. It never contains a URL, since URLs carry
// keys.
type Error struct {
	Class      Class
	Endpoint   string        // configured name of the endpoint, or of the pool
	Status     int           // HTTP status, zero if there was none
	RetryAfter time.Duration // when to retry; zero if unknown
	Err        error         // the cause; may be nil

	Contradicts bool // the response was readable and contradicts its request
	// Closed says that the endpoint will answer nothing for a long time: its plan is spent, or it refuses our key. It
	// is left alone for longer each time, up to RetryAfter if set.
	Closed bool

	// Partial says that only requests of this kind were too many: the endpoint remains in use for others.
	Partial bool
	// InPart says that part of a batch was answered: the endpoint did not refuse everything.
	InPart bool

	// excused marks a failure that a caller may have caused: a timeout at a deadline too early to blame the endpoint,
	// or an answer that is too long.
	excused bool
}

func (e *Error) Error() string {
	if whole, several := e.Err.(attempts); several {
		if len(whole) == 1 && detailsOf(whole[0]).Endpoint == e.Endpoint {
			return whole.Error()
		}
		return e.Endpoint + ": " + whole.Error()
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s: %s", e.Endpoint, e.Class)
	if e.Status != 0 {
		fmt.Fprintf(&text, " (HTTP %d)", e.Status)
	}
	if e.RetryAfter > 0 {
		fmt.Fprintf(&text, ", retry after %s", e.RetryAfter.Round(time.Millisecond))
	}
	if e.Err != nil {
		fmt.Fprintf(&text, ": %s", e.Err)
	}
	return text.String()
}

func (e *Error) Unwrap() error { return e.Err }

// RetryIn returns how long the endpoint, or its budget, wants callers to wait; zero if unknown.
func (e *Error) RetryIn() time.Duration { return e.RetryAfter }

// IsRefusal reports whether the endpoint understood and declined the request: asking again soon is useless.
func (e *Error) IsRefusal() bool { return e.Class == Rejected }

// ClassOf returns the class of err, zero when it has none.
func ClassOf(err error) Class { return detailsOf(err).Class }

// detailsOf returns the *Error in err, or an empty one if there is none, which callers must not change.
func detailsOf(err error) *Error {
	if classed, ok := errors.AsType[*Error](err); ok {
		return classed
	}
	return noDetails
}

var noDetails = new(Error)

// ErrDeclined is a check's verdict on an answer that declines the request as any other endpoint would. It settles the
// request like an answer, but its latency says nothing about that of answers.
var ErrDeclined = errors.New("declined")

// IsFault reports whether err is the endpoint's own fault. A caller who leaves or has little time, a spent budget and a
// declined request are not its fault.
func IsFault(err error) bool {
	switch e := detailsOf(err); e.Class {
	case 0:
		return err != nil
	case Unreachable, ServerError, BadAnswer, Timeout:
		return !e.excused
	}
	return false
}

// IsShort reports whether an endpoint was not asked because our own rate, or the share of it for this work, was spent.
// For a pool's error it reports whether that holds for one of its endpoints.
func (e *Error) IsShort() bool {
	if all, several := e.Err.(attempts); several {
		return slices.ContainsFunc(all, IsShort)
	}
	return errors.Is(e.Err, ErrShort)
}

// IsShort calls Error.IsShort on the first *Error in err.
func IsShort(err error) bool { return detailsOf(err).IsShort() }

// ErrShort says that a request would have to wait for our own rate.
var ErrShort = errors.New("local rate limit reached")

// Contradicts reports whether err is about an answer that was readable and contradicts its request.
func Contradicts(err error) bool { return detailsOf(err).Contradicts }

// attempts are the failures of a pool's endpoints, in the order in which they were tried.
type attempts []error

func (a attempts) Error() string {
	texts := make([]string, len(a))
	for i, err := range a {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; ")
}

func (a attempts) Unwrap() []error { return a }

// summary combines the failures. Its class is the one that they share; rate limited if only budgets, breakers and
// operators stood in the way; a bad answer if all endpoints in use answered; a timeout if there was one; else
// unreachable.
func (a attempts) summary(pool string) *Error {
	whole := &Error{Class: Unreachable, Endpoint: pool, Err: a}
	seen := map[Class]bool{}
	for _, err := range a {
		var one *Error
		if !errors.As(err, &one) {
			continue
		}
		seen[one.Class] = true
		whole.Status = one.Status
		if one.RetryAfter > 0 && (whole.RetryAfter == 0 || one.RetryAfter < whole.RetryAfter) {
			whole.RetryAfter = one.RetryAfter
		}
	}
	all := slices.Collect(maps.Keys(seen))
	areAmong := func(classes ...Class) bool {
		return len(all) > 1 && !slices.ContainsFunc(all, func(class Class) bool { return !slices.Contains(classes, class) })
	}
	switch {
	case len(all) == 1:
		whole.Class = all[0]
		return whole
	case areAmong(RateLimited, BreakerOpen, Unusable):
		whole.Class = RateLimited
	case areAmong(BadAnswer, Rejected, Unusable):
		whole.Class = BadAnswer
	case seen[Timeout]:
		whole.Class = Timeout
	}
	whole.Status = 0
	return whole
}

// endOf returns why ctx ended: its deadline, even one that moved while the context lived, or its owner leaving.
func endOf(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

// ClassOfContext returns the class for the error that ended a caller's context.
func ClassOfContext(why error) Class {
	if errors.Is(why, context.Canceled) {
		return Canceled
	}
	return Timeout
}
