package jsonrpc

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"

	"crossgate/upstream"
)

// batchAttempt is an attempt at the calls of a batch at one endpoint, with its replies.
type batchAttempt struct {
	*upstream.Attempt
	client   *Client
	batch    *inflightBatch
	identity *identity // of the endpoint; nil: it need not prove its identity
	replies  replies
	err      error // why a response holds no replies to judge
}

var _ upstream.Reply = (*batchAttempt)(nil)

// send makes calls at one endpoint in one HTTP request and decodes the replies.
func (c *Client) send(
	ctx context.Context, e *upstream.Endpoint, turn int, b *inflightBatch, calls []*Call,
) *batchAttempt {
	a := &batchAttempt{client: c, batch: b}
	if c.identity != nil {
		a.identity = c.identity.endpoints[e]
	}
	first := c.lastID.Add(uint64(len(calls))) - uint64(len(calls)) + 1
	request := c.request(e, calls, first)
	request.Admit = c.admit(calls)
	request.Check = func(response upstream.Response) error {
		_, err := parse(response, len(calls))
		return err
	}
	a.Attempt = e.Attempt(ctx, request, turn)
	if a.Err == nil {
		a.replies, a.err = read(calls, a.Response, first)
		a.replies.by = e.Name()
		a.learnPaces(calls)
		a.err = cmp.Or(a.err, a.replies.results.batchRefusal(calls))
	}
	if err := a.failure(); err != nil {
		a.learnOfFailure(calls, err)
	} else {
		a.learn(calls)
	}
	return a
}

// request returns the request that makes calls, whose ids begin with first, at an endpoint.
func (c *Client) request(e *upstream.Endpoint, calls []*Call, first uint64) upstream.Request {
	body, err := encode(calls, first)
	if err != nil {
		panic("jsonrpc: parameters that JSON cannot hold: " + err.Error()) // they are ours, or it held them before
	}
	r := upstream.Request{Body: body, Kind: kindOf(calls), Attributes: attributesOf(calls), AnyStatus: true}
	for _, call := range calls {
		r.Cost += c.abilities[e].costOf(call.Method)
	}
	return r
}

// learnOfFailure learns from a response that answers none of the calls, or from a missing one.
func (a *batchAttempt) learnOfFailure(calls []*Call, err error) {
	if a.identity != nil {
		a.identity.after(err)
	}
	known := a.client.abilities[a.Endpoint]
	refused, isBatch := errors.AsType[*batchRefusedError](err)
	said, isSaid := errors.AsType[*Error](err)
	switch class := upstream.ClassOf(err); {
	case isBatch && !refused.isUnsure && !isForOne(err, calls):
		known.batch.refused(uint64(len(calls)))
	case class == upstream.Rejected && isSaid:
		for _, call := range calls {
			if each := said.about(call); each.concerns(call, len(calls)) {
				known.refused(call, each)
			}
		}
	case class == upstream.Rejected, class == upstream.Timeout && upstream.IsFault(err), hasTimedOut(err):
		for _, call := range calls {
			known.late(call)
		}
	}
}

// hasTimedOut reports whether a balancer gave up waiting for the endpoint's nodes (524 is Cloudflare's).
func hasTimedOut(err error) bool {
	const timeoutOccurred = 524
	failed, is := errors.AsType[*upstream.Error](err)
	return is && slices.Contains([]int{http.StatusRequestTimeout, http.StatusGatewayTimeout, timeoutOccurred}, failed.Status)
}

// isForOne reports whether the refusal of a batch concerns one of its calls: because it says so or, if it is unclear,
// because there is a search among them, which endpoints refuse more often than batches.
func isForOne(err error, calls []*Call) bool {
	refused, is := errors.AsType[*batchRefusedError](err)
	if !is || refused.isOther {
		return is
	}
	said, isSaid := errors.AsType[*Error](refused.cause)
	return isSaid && said.Meaning() == Unclear && slices.ContainsFunc(calls, func(call *Call) bool { return call.Reach.Blocks > 0 })
}

func (a *batchAttempt) learn(calls []*Call) {
	known := a.client.abilities[a.Endpoint]
	for i, call := range calls {
		result := a.replies.results[i]
		if said, is := errors.AsType[*Error](result.err); is {
			known.refused(call, said)
		} else if errors.Is(result.err, ErrTagMissing) {
			known.lackTag(call)
		} else if errors.Is(result.err, ErrOverridesIgnored) {
			known.lack(call.Method+" "+Overrides, lacksMethod)
		} else if result.err == nil {
			known.answered(call)
		}
	}
}

// failure returns why there is nothing to judge, or nil.
func (a *batchAttempt) failure() error { return cmp.Or(a.Err, a.err) }

// Judge implements upstream.Reply: if the replies leave calls open, all calls go on to the next endpoint.
func (a *batchAttempt) Judge(context.Context) error {
	err := a.err
	if err == nil {
		a.client.listen(a.Endpoint, a.batch.calls, a.replies.results)
		err = a.batch.add(a.replies)
	}
	if err != nil && a.identity != nil {
		a.identity.after(err)
	}
	return err
}
