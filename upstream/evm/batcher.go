package evm

import (
	"context"
	"fmt"
	"sync"
	"time"

	"crossgate/chain"
)

// batchDelay is how long a contract call waits for others: the exchanges of a chain are called for a swap within
// moments of each other. It is a small part of what a round trip to any node takes.
const batchDelay = 500 * time.Microsecond

// batcher collects contract calls of several callers into one multicall. The zero value is empty.
type batcher struct {
	mu   sync.Mutex
	next *multicall // nil: no call waits
}

// multicall is contract calls of several callers that are made together.
type multicall struct {
	calls   []contractCall
	waiting int // callers
	cancel  context.CancelFunc
	done    chan struct{} // closed when answers or err are there
	answers [][]byte
	err     error
}

// CallAll calls contracts on the newest block, each with the calldata at its index, in one round trip where the
// chain allows it, and together with the calls that others make at the same moment. The answer of a contract that
// reverts, or is none, is empty.
func (c *Chain) CallAll(ctx context.Context, to []chain.Address, data [][]byte) ([][]byte, error) {
	calls := make([]contractCall, len(to))
	for i := range to {
		calls[i] = contractCall{to[i], data[i]}
	}
	batch, first := c.join(ctx, calls)
	select {
	case <-batch.done:
		if batch.err != nil {
			return nil, batch.err
		}
		return batch.answers[first : first+len(calls)], nil
	case <-ctx.Done():
		c.batcher.leave(batch)
		return nil, fmt.Errorf("chain %d: %w", c.chain.ID, ctx.Err())
	}
}

// join adds calls to the next batch, where their answers will be those from first on. A batch goes on as long as one
// caller waits.
func (c *Chain) join(ctx context.Context, calls []contractCall) (batch *multicall, first int) {
	b := &c.batcher
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next == nil || len(b.next.calls)+len(calls) > largestMulticall {
		shared, cancel := context.WithCancel(context.WithoutCancel(ctx))
		begun := &multicall{cancel: cancel, done: make(chan struct{})}
		b.next = begun
		go c.flush(shared, begun)
	}
	b.next.waiting++
	first = len(b.next.calls)
	b.next.calls = append(b.next.calls, calls...)
	return b.next, first
}

// flush makes the calls of a batch after batchDelay.
func (c *Chain) flush(ctx context.Context, batch *multicall) {
	defer batch.cancel()
	defer close(batch.done)
	defer func() {
		if cause := recover(); cause != nil {
			batch.err = fmt.Errorf("panic while calling contracts: %v", cause)
		}
	}()
	select {
	case <-time.After(batchDelay):
	case <-ctx.Done():
	}
	c.batcher.close(batch)
	batch.answers, batch.err = c.callContracts(ctx, batch.calls)
}

// close ends the joining of a batch.
func (b *batcher) close(batch *multicall) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closeLocked(batch)
}

func (b *batcher) closeLocked(batch *multicall) {
	if b.next == batch {
		b.next = nil
	}
}

// leave takes note that a caller left; a batch that no caller waits for any more is canceled.
func (b *batcher) leave(batch *multicall) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if batch.waiting--; batch.waiting == 0 {
		b.closeLocked(batch)
		batch.cancel()
	}
}
