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
	waited    context.Context // from the first call of Done on; contexts below it are its children without a goroutine
	endWait   context.CancelFunc
	err       error
	isReading bool // the body is not read yet: bytes that come say nothing of the client
}

var _ context.Context = (*requestContext)(nil)

// Deadline reports that there is none.
func (c *requestContext) Deadline() (deadline time.Time, ok bool) { return time.Time{}, false }

// Value has no values but what package context asks for to find the parent of a context.
func (c *requestContext) Value(key any) any {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waited == nil {
		return nil
	}
	return c.waited.Value(key)
}

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
	if c.waited == nil {
		c.waited, c.endWait = context.WithCancel(context.Background())
		switch {
		case c.err != nil:
			c.endWait()
		case !c.isReading:
			c.conn.watch(c.cancel)
		}
	}
	return c.waited.Done()
}

// bodyRead is called when a streamed body has been read: from then on the connection may be watched.
func (c *requestContext) bodyRead() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isReading = false
	if c.waited != nil && c.err == nil {
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
	if c.waited != nil {
		c.endWait()
	}
}
