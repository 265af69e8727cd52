package evm

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"crossgate/chain"
	"crossgate/order"
)

// batchDelay is how long a contract call waits for others: a swap calls all exchanges of a chain within moments. It is
// a small part of a round trip to any node.
const batchDelay = 500 * time.Microsecond

type batcher struct {
	mu   sync.Mutex
	next *batch // nil: none
}

// batch holds contract calls of several callers, made in the goroutine of the first.
type batch struct {
	calls   []chain.ContractCall
	done    chan struct{} // closed when answers or err are set
	answers [][]byte
	err     error
}

// errAbandoned says that the caller who made a batch left before it had answers.
var errAbandoned = errors.New("batch of contract calls abandoned")

// CallAll calls contracts on the newest block, in one round trip if the chain allows it, and together with the calls
// that others make at the same moment. The answer is empty for a contract that reverts or does not exist.
func (c *Chain) CallAll(ctx context.Context, calls []chain.ContractCall) ([][]byte, error) {
	for len(calls) > 0 { // the first caller of a batch is known by its position
		joined, first := c.batcher.join(calls)
		if first == 0 {
			c.makeBatch(ctx, joined)
		}
		select {
		case <-joined.done:
		case <-ctx.Done():
		}
		switch {
		case ctx.Err() != nil:
			return nil, fmt.Errorf("chain %d: %w", c.chain.ID, ctx.Err())
		case joined.err == nil:
			return joined.answers[first : first+len(calls)], nil
		case !errors.Is(joined.err, errAbandoned):
			return nil, joined.err
		}
	}
	return nil, nil
}

// join adds calls to the next batch, whose answers from first on will be theirs. The first caller makes the batch.
func (b *batcher) join(calls []chain.ContractCall) (joined *batch, first int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next == nil || len(b.next.calls)+len(calls) > largestMulticall {
		b.next = &batch{done: make(chan struct{}), err: errAbandoned}
	}
	first = len(b.next.calls)
	b.next.calls = append(b.next.calls, calls...)
	return b.next, first
}

// makeBatch makes the calls of a batch after batchDelay, when it can no longer be joined.
func (c *Chain) makeBatch(ctx context.Context, made *batch) {
	defer close(made.done)
	order.Wait(ctx, batchDelay, nil)
	c.batcher.mu.Lock()
	if c.batcher.next == made {
		c.batcher.next = nil
	}
	c.batcher.mu.Unlock()
	if ctx.Err() != nil {
		return
	}
	replies, err := c.callContracts(ctx, c.rpc, made.calls, nil)
	if ctx.Err() != nil {
		return
	}
	made.err = err
	for _, each := range replies {
		made.answers = append(made.answers, each.data)
	}
}
