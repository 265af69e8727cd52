package jsonrpc

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"crossgate/upstream"
)

// methodWords match texts saying that one method was called too often, but not all of them.
var methodWords = regexp.MustCompile(`\b(specific|this|that|same|single) (rpc |api )?(call|method)\b|` +
	`\b(per|each) (rpc |api )?method\b|\bmethod('s)? (rate|rps|request)`)

// pace returns the budget for calls of a method that the endpoint was found to accept less often than others, or nil.
func (c *Capabilities) pace(method string) *upstream.Budget {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.paces[method]
}

// isSpent reports whether a call of a method would have to wait although the endpoint accepts others.
func (c *Capabilities) isSpent(method string) bool {
	pace := c.pace(method)
	return pace != nil && pace.IsSpent()
}

// admit returns a function that waits until calls fit the paces of their methods; see upstream.Request.Admit.
func (c *Client) admit(calls []*Call) func(context.Context, *upstream.Endpoint) (time.Duration, bool, error) {
	return func(ctx context.Context, e *upstream.Endpoint) (time.Duration, bool, error) {
		counts := make(map[string]int)
		for _, call := range calls {
			counts[call.Method]++
		}
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

// learnPaces learns which methods were called too often although others were not: one that the error is about, or those
// refused in a batch in which calls of another method were answered. A refusal of all is about the number of calls.
func (a *batchAttempt) learnPaces(calls []*Call) {
	if a.err == nil {
		a.learnPacesOfReplies(calls)
		return
	}
	known := a.client.abilities[a.Endpoint]
	isOther := func(call *Call) bool { return call.Method != calls[0].Method }
	if failed, is := rateLimited(a.err); is && !slices.ContainsFunc(calls, isOther) && isAboutMethod(a.err, calls[0].Method) {
		known.refusedPace(calls[0].Method, failed)
	} else if is && len(calls) > 1 {
		known.refusedCrowd(uint64(len(calls)), isAboutBatch(a.err))
	}
}

// learnPacesOfReplies is learnPaces for a batch that was answered call by call. If calls of the same method were both
// answered and refused for their rate, the endpoint counts calls, and the batch held more than it accepts at once.
func (a *batchAttempt) learnPacesOfReplies(calls []*Call) {
	known := a.client.abilities[a.Endpoint]
	answered, count := make(map[string]bool), 0
	for i, call := range calls {
		if a.replies.results[i].err == nil {
			answered[call.Method] = true
			count++
			if pace := known.pace(call.Method); pace != nil {
				pace.Answered()
			}
		}
	}
	isCrowd := false
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
		known.refusedPace(call.Method, failed)
	}
	switch {
	case !isCrowd && count > 0:
		known.tookCrowd(uint64(count))
	case isCrowd && count > 0:
		known.batch.refused(uint64(len(calls)))
	case isCrowd && len(calls) > 1:
		known.refusedCrowd(uint64(len(calls)), false)
	}
}

// refusedPace records that a method was called too often: it is not called for a while.
func (c *Capabilities) refusedPace(method string, failed *upstream.Error) {
	failed.Partial = true
	c.mu.Lock()
	pace := cmp.Or(c.paces[method], new(upstream.Budget))
	c.paces[method] = pace
	c.mu.Unlock()
	pace.Pause(failed.RetryAfter)
}

// refusedCrowd records that a number of calls at once was refused for its rate. It was too large if the endpoint says
// so, or if the same happened before a pause and nothing was answered since.
func (c *Capabilities) refusedCrowd(calls uint64, isOfBatch bool) {
	const leastPause = time.Second
	c.mu.Lock()
	now, last := time.Now(), c.crowded
	isAgain := !last.IsZero() && now.Sub(last) >= leastPause
	if last.IsZero() || isAgain {
		c.crowded = now
	}
	c.mu.Unlock()
	if isAgain || isOfBatch {
		c.batch.refused(calls)
	}
}

func (c *Capabilities) tookCrowd(calls uint64) {
	c.mu.Lock()
	c.crowded = time.Time{}
	c.mu.Unlock()
	c.batch.took(calls)
}

// isAboutBatch reports whether an endpoint said that the batch was too large.
func isAboutBatch(err error) bool {
	said, is := errors.AsType[*Error](err)
	return is && strings.Contains(said.text(), "batch")
}

func rateLimited(err error) (*upstream.Error, bool) {
	failed, is := errors.AsType[*upstream.Error](err)
	return failed, is && failed.Class == upstream.RateLimited && !failed.Closed
}

// isAboutMethod reports whether a refusal says that the method was called too often, but not all of them: by its name,
// or in words.
func isAboutMethod(err error, method string) bool {
	said, is := errors.AsType[*Error](err)
	return is && (strings.Contains(said.text(), strings.ToLower(method)) || methodWords.MatchString(said.text()))
}
