package transport

import (
	"context"
	"sync"
	"time"
)

// requestContext ends when the handler has returned or, while somebody waits for that, the client has left.
type requestContext struct {
	conn *conn

	mu   sync.Mutex
	done chan struct{} // nil until somebody wants to wait
	err  error
}

var _ context.Context = (*requestContext)(nil)

// Deadline tells that there is none.
func (c *requestContext) Deadline() (deadline time.Time, ok bool) { return time.Time{}, false }

// Value knows nothing.
func (c *requestContext) Value(any) any { return nil }

// Err returns context.Canceled once the request is over.
func (c *requestContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Done returns what is closed when the request is over. The first call begins to watch the connection.
func (c *requestContext) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done == nil {
		c.done = make(chan struct{})
		if c.err == nil {
			c.conn.watch(c.cancel)
		} else {
			close(c.done)
		}
	}
	return c.done
}

// cancel tells who waits that the request is over.
func (c *requestContext) cancel() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	c.err = context.Canceled
	if c.done != nil {
		close(c.done)
	}
}

// end is for when the handler has returned: the connection is read again.
func (c *requestContext) end() {
	c.cancel()
	c.conn.unwatch()
}
