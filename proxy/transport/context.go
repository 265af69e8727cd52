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

	mu        sync.Mutex
	done      chan struct{} // nil until Done is called
	err       error
	isReading bool // the body is not read yet: bytes that come say nothing of the client
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
		switch {
		case c.err != nil:
			close(c.done)
		case !c.isReading:
			c.conn.watch(c.cancel)
		}
	}
	return c.done
}

// bodyRead is called when a streamed body has been read: from then on the connection may be watched.
func (c *requestContext) bodyRead() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isReading = false
	if c.done != nil && c.err == nil {
		c.conn.watch(c.cancel)
	}
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
