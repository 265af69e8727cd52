package jsonrpc

import (
	"context"
	"maps"
	"slices"

	"crossgate/upstream"
)

// Anchor makes every endpoint prove once in a while, with atOnce before anything else, that it is on the chain's own
// branch: proof requests a block known to be the chain's, and rejects any other. An endpoint without that block is
// believed. A nil proof ends that. Only for a client made by Proving.
func (c *Client) Anchor(proof *Call, atOnce bool) {
	c.identity.anchor.Store(proof)
	if !atOnce {
		return
	}
	for _, known := range c.identity.endpoints {
		known.anchoredUntil.Store(0)
	}
}

// Suspend makes all calls but those of Alone fail with cause until Suspend(nil), while it is unknown which of the
// endpoints serve the chain. Only for a client made by Proving.
func (c *Client) Suspend(cause error) {
	if cause == nil {
		c.identity.suspended.Store(nil)
		return
	}
	cause = &upstream.Error{Class: upstream.Unusable, Endpoint: c.Name(), Err: cause}
	c.identity.suspended.Store(&cause)
}

func (c *Client) suspension() error {
	if c.identity == nil || c.alone == nil {
		return nil
	}
	if cause := c.identity.suspended.Load(); cause != nil {
		return *cause
	}
	return nil
}

// Alone asks the endpoints of a client made by Proving individually, starting with another one each time, until as many
// as most have answered, each of a different provider. It returns the answers by the endpoints' names. Endpoints prove
// their identity first only if all are to be asked.
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
			unproven.identity, unproven.inflight = nil, newInflightTable(alone.pool)
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
