package transport

import (
	"context"
	"sync"
	"time"
)

// requestContext ends when the handler has returned or, once something waits on Done, when the client disconnects. Few
// requests wait for anything, and for those that do not no goroutine is started.
type requestContext struct {
	conn *conn

	mu   sync.Mutex
	done chan struct{} // nil until Done is called
	err  error
}

var _ context.Context = (*requestContext)(nil)

// Deadline reports that there is none.
func (c *requestContext) Deadline() (deadline time.Time, ok bool) { return time.Time{}, false }

// Value has no values.
func (c *requestContext) Value(any) any { return nil }

// Err returns context.Canceled once the request is over.
func (c *requestContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Done returns a channel that is closed when the request is over. The first call starts watching the connection.
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

// cancel ends the context, once.
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

// end ends the context after the handler has returned, and ends the watch of its connection.
func (c *requestContext) end() {
	c.cancel()
	c.conn.unwatch()
}
