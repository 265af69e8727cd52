package transport

import (
	"errors"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// accepting makes a conn of every connection that comes in.
type accepting struct {
	net.Listener
	server *Server
	ending sync.Once
	closed error
}

// Close ends the listener. It may be called again.
func (a *accepting) Close() error {
	a.ending.Do(func() { a.closed = a.Listener.Close() })
	return a.closed
}

// exhausted is the pause after which a process without a free file tries again to accept a connection.
const exhausted = 100 * time.Millisecond

// Accept waits for the next connection. Files that are used up come back, so that is no reason to stop serving.
func (a *accepting) Accept() (net.Conn, error) {
	connection, err := a.Listener.Accept()
	for errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		a.server.options.Logger.Warn("no connection can be accepted for now", "error", err)
		time.Sleep(exhausted)
		connection, err = a.Listener.Accept()
	}
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: connection, server: a.server, remote: connection.RemoteAddr().String()}
	a.server.mu.Lock()
	a.server.open[c] = struct{}{}
	a.server.mu.Unlock()
	return c, nil
}

// conn is a connection that can be watched while nothing is read from it, for the client's leaving.
type conn struct {
	net.Conn
	server *Server
	remote string // address

	writeLimit time.Time // as it was last set

	watched chan struct{} // closed when the watch has ended; nil: there is none
	ahead   [1]byte       // what the watch has read of the next request
	held    int           // bytes in ahead
}

// Read reads what the watch has read first.
func (c *conn) Read(p []byte) (int, error) {
	if c.held > 0 && len(p) > 0 {
		c.held = 0
		return copy(p, c.ahead[:]), nil
	}
	return c.Conn.Read(p)
}

// SetWriteDeadline limits writing. A limit that has been moved by less than a second stays, since setting it for every answer
// costs more than it is worth.
func (c *conn) SetWriteDeadline(limit time.Time) error {
	if moved := limit.Sub(c.writeLimit); !c.writeLimit.IsZero() && 0 <= moved && moved < time.Second {
		return nil
	}
	c.writeLimit = limit
	return c.Conn.SetWriteDeadline(limit)
}

// Close ends the connection.
func (c *conn) Close() error {
	c.server.mu.Lock()
	delete(c.server.open, c)
	c.server.mu.Unlock()
	return c.Conn.Close()
}

// watch calls left, from a goroutine of its own, if the client leaves before unwatch. Nobody may read meanwhile.
func (c *conn) watch(left func()) {
	watched := make(chan struct{})
	c.watched = watched
	// The limit of reading is that of a request, which has arrived. Where it cannot be lifted the read tells why.
	_ = c.SetReadDeadline(time.Time{})
	go func() {
		defer close(watched)
		n, err := c.Conn.Read(c.ahead[:])
		c.held = n
		if n == 0 && !errors.Is(err, os.ErrDeadlineExceeded) {
			left()
		}
	}()
}

// unwatch ends the watch, if there is one.
func (c *conn) unwatch() {
	if c.watched == nil {
		return
	}
	_ = c.SetReadDeadline(time.Unix(1, 0))
	<-c.watched
	_ = c.SetReadDeadline(time.Time{}) // who reads next sets its own
	c.watched = nil
}
