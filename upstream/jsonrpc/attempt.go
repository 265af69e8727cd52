package jsonrpc

import (
	"context"

	"crossgate/upstream"
)

// batchAttempt is the calls of a batch at one endpoint, with what it replied.
type batchAttempt struct {
	*upstream.Attempt
	client   *Client
	batch    *inflightBatch
	identity *identity // of the endpoint; nil: it need not prove any
	replies  replies
	err      error // why there are no replies to judge, though there is a response
}

var _ upstream.Reply = (*batchAttempt)(nil)

// send makes calls at one endpoint in one HTTP request, and reads the replies.
func (c *Client) send(
	ctx context.Context, e *upstream.Endpoint, turn upstream.Turn, b *inflightBatch, calls []*Call,
) *batchAttempt {
	a := &batchAttempt{client: c, batch: b}
	if c.identity != nil {
		a.identity = c.identity.endpoints[e]
	}
	first := c.lastID.Add(uint64(len(calls))) - uint64(len(calls)) + 1
	body, err := encode(calls, first)
	if err != nil {
		panic("jsonrpc: parameters that JSON could hold before: " + err.Error())
	}
	request := upstream.Request{Body: body, Calls: len(calls), RPCMethod: spanMethod(calls)}
	for _, call := range calls {
		request.Cost += e.CostOf(call.Method)
	}
	request.Check = func(response upstream.Response) error {
		_, err := parse(response, len(calls))
		return err
	}
	a.Attempt = e.Attempt(ctx, request, turn)
	if a.Err == nil {
		a.replies, a.err = read(calls, a.Response, first)
		a.replies.by = e.Name()
	}
	if err := a.failure(); err != nil && a.identity != nil {
		a.identity.after(err)
	}
	return a
}

// failure is why there is nothing to judge.
func (a *batchAttempt) failure() error {
	if a.Err != nil {
		return a.Err
	}
	return a.err
}

// Judge implements upstream.Reply: replies that leave calls open send all of them on to the next endpoint.
func (a *batchAttempt) Judge(context.Context) error {
	err := a.err
	if err == nil {
		a.tellHeads()
		err = a.batch.add(a.replies)
	}
	if err != nil && a.identity != nil {
		a.identity.after(err)
	}
	return err
}

// tellHeads lets the pool learn from the replies how far the endpoint's chain has come.
func (a *batchAttempt) tellHeads() {
	for i, call := range a.batch.calls {
		if number, told := a.replies.results[i].head(call); told {
			a.client.pool.SawHead(a.Endpoint, number)
		}
	}
}
