package transport

import (
	"context"
	"sync"
	"time"
)

// requestContext ends when the handler has returned or, once something waits on Done, when the client disconnects. Few
// requests wait for anything; the others need no goroutine.
type requestContext struct {
	conn *conn

	mu        sync.Mutex
	waited    context.Context // since the first call of Done; contexts derived from it need no goroutine
	endWait   context.CancelFunc
	err       error
	isReading bool // the body is not read yet: incoming bytes reveal nothing about the client
}

var _ context.Context = (*requestContext)(nil)

// Deadline reports that there is none.
func (c *requestContext) Deadline() (deadline time.Time, ok bool) { return time.Time{}, false }

// Value has only the values that package context looks up to find a context's parent.
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
