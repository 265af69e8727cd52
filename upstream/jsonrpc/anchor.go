package jsonrpc

import (
	"context"
	"maps"
	"slices"

	"crossgate/upstream"
)

// Anchor has every endpoint prove once in a while, with atOnce before anything else, that it is of the chain's own
// branch: proof asks for a block that is known to be the chain's, and refuses another one. An endpoint without that
// block is believed. A nil proof ends that. Only for a client that Proving made.
func (c *Client) Anchor(proof *Call, atOnce bool) {
	c.identity.anchor.Store(proof)
	if !atOnce {
		return
	}
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
	if c.identity == nil || c.alone == nil {
		return nil
	}
	if cause := c.identity.suspended.Load(); cause != nil {
		return *cause
	}
	return nil
}

// Alone asks the endpoints of a client that Proving made, each by itself, until so many of different providers have
// answered, another one first each time, and returns the answers by their names. Only where all are asked do they prove
// their identity first.
func Alone[T any](ctx context.Context, c *Client, most int, ask func(ctx context.Context, alone *Client) (T, error)) map[string]T {
	answers := make(map[string]T)
	all := c.pool.Endpoints()
	first := int(c.identity.turn.Add(1))
	for i := range all {
		alone := c.alone[all[(first+i)%len(all)]]
		isOne := func(name string) bool { return c.voices.isOne(name, alone.Name()) }
		if slices.ContainsFunc(slices.Collect(maps.Keys(answers)), isOne) {
			continue
		}
		if most < len(all) {
			unproven := *alone
			unproven.identity = nil
			alone = &unproven
		}
		if answer, err := ask(ctx, alone); err == nil {
			answers[alone.Name()] = answer
		}
		if len(answers) == most {
			break
		}
	}
	return answers
}
