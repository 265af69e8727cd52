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

// trackedConn frees the place of its connection when net/http closes it. What net/http writes to it in HTTP/2, frame by
// frame, is sent together as far as it is ready at one moment, for most of a write's cost is the system call.
type trackedConn struct {
	net.Conn
	conn  *conn
	ahead []byte // read already

	mu      sync.Mutex
	changed sync.Cond     // of the fields below
	ready   *bytes.Buffer // to be sent; nil: nothing
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

// batches are reused: a connection that rests has none.
var batches = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// Write waits while much is ready. A failure to send is returned by the next call.
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

// send sends until nothing is ready, after what else runs now has had its turn.
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
		_ = g.Conn.Close() // reading ends too
	}
	g.changed.Broadcast()
}

// sendBatch fails when nothing can be written for as long as a response may take. It is called with the mutex held.
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
