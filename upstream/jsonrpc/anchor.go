package jsonrpc

import (
	"context"
	"slices"
	"sync"

	"crossgate/upstream"
)

// Anchor has every endpoint prove from now on that it is of the chain's own branch, along with what it is to prove
// anyway: proof asks for a block that is known to be the chain's, and refuses another one. An endpoint that does not
// tell of the block is believed. Nil ends that. Only for a client that Proving made.
func (c *Client) Anchor(proof *Call) {
	c.identity.anchor.Store(proof)
	for _, known := range c.identity.endpoints {
		known.anchoredUntil.Store(0)
	}
}

// Suspend has all calls fail with cause until Suspend(nil), but those of Alone: it is not known which of the endpoints
// serve the chain. Only for a client that Proving made.
func (c *Client) Suspend(cause error) {
	if cause == nil {
		c.identity.suspended.Store(nil)
		return
	}
	cause = &upstream.Error{Class: upstream.Unusable, Endpoint: c.Name(), Err: cause}
	c.identity.suspended.Store(&cause)
}

// suspension is why no call is made; nil while they are.
func (c *Client) suspension() error {
	if c.identity == nil || slices.Contains(c.identity.alone, c) {
		return nil
	}
	if cause := c.identity.suspended.Load(); cause != nil {
		return *cause
	}
	return nil
}

// Alone has each endpoint of a client that Proving made asked by itself, all at once, and returns what they answered by
// their names. Endpoints for which ask fails are left out.
func Alone[T any](ctx context.Context, c *Client, ask func(ctx context.Context, alone *Client) (T, error)) map[string]T {
	var mu sync.Mutex
	var asking sync.WaitGroup
	answers := make(map[string]T)
	for _, alone := range c.identity.alone {
		asking.Go(func() {
			answer, err := ask(ctx, alone)
			if err != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			answers[alone.Name()] = answer
		})
	}
	asking.Wait()
	return answers
}
