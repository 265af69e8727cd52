package transport

import (
	"bytes"
	"errors"
	"net"
	"os"
	"runtime"
	"sync"
	"time"
)

// trackedConn removes its connection from the open ones when net/http closes it. HTTP/2 frames that net/http writes at
// about the same time are sent together, because a write costs mostly its system call.
type trackedConn struct {
	net.Conn
	conn  *conn
	ahead []byte // already read

	mu      sync.Mutex
	changed sync.Cond     // signals changes of the fields below
	ready   *bytes.Buffer // to be sent; nil if nothing
	sending bool
	closing bool
	failure error
}

func newTrackedConn(socket net.Conn, c *conn) *trackedConn {
	g := &trackedConn{Conn: socket, conn: c}
	g.changed.L = &g.mu
	return g
}

func (g *trackedConn) Read(p []byte) (int, error) {
	if len(g.ahead) > 0 {
		n := copy(p, g.ahead)
		g.ahead = g.ahead[n:]
		return n, nil
	}
	return g.Conn.Read(p)
}

// batches pools buffers, so that idle connections hold none.
var batches = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// Write blocks while much is waiting to be sent. If sending fails, the next call returns the error.
func (g *trackedConn) Write(p []byte) (int, error) {
	if !g.conn.two.Load() {
		return g.Conn.Write(p)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.ready != nil && g.ready.Len() >= oneWrite && g.failure == nil {
		g.changed.Wait()
	}
	if g.failure != nil {
		return 0, g.failure
	}
	if g.ready == nil {
		g.ready = batches.Get().(*bytes.Buffer)
	}
	if !g.sending {
		g.sending = true
		go g.send()
	}
	return g.ready.Write(p)
}

// send sends until nothing is ready. It first yields to other runnable goroutines, which may write more.
func (g *trackedConn) send() {
	runtime.Gosched()
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.ready != nil && g.failure == nil {
		batch := g.ready
		g.ready = nil
		g.changed.Broadcast()
		g.failure = g.sendBatch(batch.Bytes())
		if batch.Reset(); batch.Cap() <= 4*oneWrite {
			batches.Put(batch)
		}
	}
	if g.sending = false; g.failure != nil {
		_ = g.Conn.Close() // ends reading, too
	}
	g.changed.Broadcast()
}

// sendBatch fails if nothing can be written within WriteLimit. It must be called with the mutex held.
func (g *trackedConn) sendBatch(left []byte) error {
	for len(left) > 0 {
		if !g.closing {
			_ = g.SetWriteDeadline(time.Now().Add(g.conn.server.options.WriteLimit)) // fails as writing will
		}
		g.mu.Unlock()
		n, err := g.Conn.Write(left)
		g.mu.Lock()
		if left = left[n:]; err != nil && (n == 0 || !errors.Is(err, os.ErrDeadlineExceeded)) {
			return err
		}
	}
	return nil
}

// Close sends the rest to clients that still read.
func (g *trackedConn) Close() error {
	defer g.conn.server.leave(g.conn)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closing = true
	_ = g.SetWriteDeadline(time.Now().Add(lingerSilence))
	for g.sending {
		g.changed.Wait()
	}
	return g.Conn.Close()
}
