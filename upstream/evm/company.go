package evm

import (
	"context"
	"fmt"
	"sync"
	"time"

	"crossgate/chain"
)

// gatherFor is how long a question waits for company: the exchanges of a chain are asked for a swap within moments of
// each other. It is a small part of what a round trip to any node takes.
const gatherFor = 500 * time.Microsecond

// company is questions of several callers that go to the chain together.
type company struct {
	questions []question
	waiting   int // callers
	stop      context.CancelFunc
	asked     chan struct{} // closed when answers or err are there
	answers   [][]byte
	err       error
}

// gathering is where questions wait for company. The zero value is empty.
type gathering struct {
	mu   sync.Mutex
	next *company // nil: nobody waits
}

// CallAll asks contracts on the newest block, each with the calldata at its index, in one round trip where the
// chain allows it, and together with what others ask of it at the same moment. The answer of a contract that refuses,
// or is none, is empty.
func (c *Chain) CallAll(ctx context.Context, to []chain.Address, data [][]byte) ([][]byte, error) {
	questions := make([]question, len(to))
	for i := range to {
		questions[i] = question{to[i], data[i]}
	}
	together, first := c.join(ctx, questions)
	select {
	case <-together.asked:
		if together.err != nil {
			return nil, together.err
		}
		return together.answers[first : first+len(questions)], nil
	case <-ctx.Done():
		c.gathering.leave(together)
		return nil, fmt.Errorf("chain %d: %w", c.chain.ID, ctx.Err())
	}
}

// join finds company for questions, whose answers will be those from first on. It goes on as long as one caller waits.
func (c *Chain) join(ctx context.Context, questions []question) (together *company, first int) {
	g := &c.gathering
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.next == nil || len(g.next.questions)+len(questions) > questionsAtOnce {
		asking, stop := context.WithCancel(context.WithoutCancel(ctx))
		begun := &company{stop: stop, asked: make(chan struct{})}
		g.next = begun
		go c.depart(asking, begun)
	}
	g.next.waiting++
	first = len(g.next.questions)
	g.next.questions = append(g.next.questions, questions...)
	return g.next, first
}

// depart asks what has gathered after a moment.
func (c *Chain) depart(ctx context.Context, together *company) {
	defer together.stop()
	defer close(together.asked)
	defer func() {
		if cause := recover(); cause != nil {
			together.err = fmt.Errorf("panic while asking contracts: %v", cause)
		}
	}()
	select {
	case <-time.After(gatherFor):
	case <-ctx.Done():
	}
	c.gathering.close(together)
	together.answers, together.err = c.askAll(ctx, together.questions)
}

// close lets nobody join any more.
func (g *gathering) close(together *company) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.next == together {
		g.next = nil
	}
}

// leave stops a company that nobody waits for any more.
func (g *gathering) leave(together *company) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if together.waiting--; together.waiting > 0 {
		return
	}
	if g.next == together {
		g.next = nil
	}
	together.stop()
}
