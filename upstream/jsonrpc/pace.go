package jsonrpc

import (
	"context"
	"errors"
	"strings"
	"time"

	"crossgate/upstream"
)

// pace is how often the endpoint takes calls of a method, where it was found or declared to take fewer of these than of
// others; nil: it was not.
func (c *Capabilities) pace(method string) *upstream.Pace {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.paces[method]
}

// paceLocked is pace for a method of which a bound is about to be known.
func (c *Capabilities) paceLocked(method string) *upstream.Pace {
	if c.paces[method] == nil {
		c.paces[method] = new(upstream.Pace)
	}
	return c.paces[method]
}

// isSpent reports whether a call of a method would have to wait though the endpoint takes others.
func (c *Capabilities) isSpent(method string) bool {
	pace := c.pace(method)
	return pace != nil && pace.IsSpent()
}

// admit waits until calls may be made, by the paces of their methods; see upstream.Request.Admit.
func (c *Client) admit(calls []*Call) func(context.Context, *upstream.Endpoint) (time.Duration, bool, error) {
	counts := make(map[string]int)
	for _, call := range calls {
		counts[call.Method]++
	}
	return func(ctx context.Context, e *upstream.Endpoint) (time.Duration, bool, error) {
		for method, n := range counts {
			if pace := c.abilities[e].pace(method); pace != nil {
				if after, ok, err := pace.Take(ctx, n); !ok {
					return after, false, err
				}
			}
		}
		return 0, true, nil
	}
}

// learnPaces learns which methods were asked too often though others were not: one that the error is about, and those
// of a batch in which calls of another method were answered. The endpoint is not left alone for their sake. What is
// refused of all methods is a matter of how many calls are made at once (crowd.go).
func (a *batchAttempt) learnPaces(calls []*Call) {
	if a.err == nil {
		a.learnPacesOfReplies(calls)
		return
	}
	known := a.client.abilities[a.Endpoint]
	failed, is := rateLimited(a.err)
	switch {
	case is && isOfOneMethod(calls) && isAboutMethod(a.err, calls[0].Method):
		known.refusedPace(calls[0].Method, failed)
	case is:
		known.refusedCrowd(len(calls), isAboutBatch(a.err))
	}
}

func (a *batchAttempt) learnPacesOfReplies(calls []*Call) {
	known := a.client.abilities[a.Endpoint]
	answered, count := make(map[string]bool), 0
	for i, call := range calls {
		if a.replies.results[i].err == nil {
			answered[call.Method] = true
			count++
			if pace := known.pace(call.Method); pace != nil {
				pace.Accepted()
			}
		}
	}
	refused, isCrowd := make(map[string]bool), false
	for i, call := range calls {
		err := a.replies.results[i].err
		failed, is := rateLimited(err)
		if !is {
			continue
		}
		if failed.InPart = count > 0; !isAboutMethod(err, call.Method) && (answered[call.Method] || count == 0) {
			isCrowd = true
			continue
		}
		failed.Partial = true
		if !refused[call.Method] {
			refused[call.Method] = true
			known.refusedPace(call.Method, failed)
		}
	}
	known.learnCrowd(len(calls), count, isCrowd)
}

// refusedPace learns that calls of a method were one too many.
func (c *Capabilities) refusedPace(method string, failed *upstream.Error) {
	failed.Partial = true
	c.mu.Lock()
	pace := c.paceLocked(method)
	c.mu.Unlock()
	pace.Refused(failed.RetryAfter)
}

func rateLimited(err error) (*upstream.Error, bool) {
	failed, is := errors.AsType[*upstream.Error](err)
	return failed, is && failed.Class == upstream.RateLimited && !failed.Closed
}

// isAboutMethod reports whether an endpoint said by a refusal that the method was asked too often, and not all of them:
// by its name, or in words.
func isAboutMethod(err error, method string) bool {
	said, is := errors.AsType[*Error](err)
	return is && (strings.Contains(said.text(), strings.ToLower(method)) || methodWords.MatchString(said.text()))
}

func isOfOneMethod(calls []*Call) bool {
	for _, call := range calls {
		if call.Method != calls[0].Method {
			return false
		}
	}
	return true
}
