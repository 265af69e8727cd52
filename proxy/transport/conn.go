package transport

import (
	"errors"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// watchedListener makes a conn of every connection that it accepts.
type watchedListener struct {
	net.Listener
	server *Server
	once   sync.Once
	closed error // what the first Close returned
}

// Close closes the listener, once.
func (l *watchedListener) Close() error {
	l.once.Do(func() { l.closed = l.Listener.Close() })
	return l.closed
}

// acceptRetry is the pause after a failed accept in a process without free file descriptors.
const acceptRetry = 100 * time.Millisecond

// Accept waits for the next connection. It waits for file descriptors too, because other connections give theirs back.
func (l *watchedListener) Accept() (net.Conn, error) {
	connection, err := l.Listener.Accept()
	for errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		l.server.options.Logger.Warn("accept failed: out of file descriptors; retrying", "error", err)
		time.Sleep(acceptRetry)
		connection, err = l.Listener.Accept()
	}
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: connection, server: l.server, remote: connection.RemoteAddr().String()}
	l.server.mu.Lock()
	l.server.open[c] = struct{}{}
	l.server.mu.Unlock()
	return c, nil
}

// conn is a connection that can be watched for the client's disconnect while a request is handled. Only the goroutine
// that serves the connection calls its methods, except Close.
type conn struct {
	net.Conn
	server *Server
	remote string // address of the peer

	writeLimit time.Time // as it was last set

	watched chan struct{} // closed when the watch has ended; nil: there is none
	ahead   [1]byte       // of the next request, read by the watch
	held    int           // bytes in ahead
}

// Read returns what the watch has read ahead first.
func (c *conn) Read(p []byte) (int, error) {
	if c.held > 0 && len(p) > 0 {
		c.held = 0
		return copy(p, c.ahead[:]), nil
	}
	return c.Conn.Read(p)
}

// SetWriteDeadline limits writing. A deadline that would move by less than a second stays: setting it for every
// response costs more than it is worth.
func (c *conn) SetWriteDeadline(limit time.Time) error {
	if moved := limit.Sub(c.writeLimit); !c.writeLimit.IsZero() && 0 <= moved && moved < time.Second {
		return nil
	}
	c.writeLimit = limit
	return c.Conn.SetWriteDeadline(limit)
}

// Close closes the connection.
func (c *conn) Close() error {
	c.server.mu.Lock()
	delete(c.server.open, c)
	c.server.mu.Unlock()
	return c.Conn.Close()
}

// watch calls disconnected, from a goroutine of its own, if the client disconnects before unwatch. Nothing may be read
// meanwhile.
func (c *conn) watch(disconnected func()) {
	watched := make(chan struct{})
	c.watched = watched
	// The read deadline was for the request, which has arrived. If it cannot be lifted, the read below fails.
	_ = c.SetReadDeadline(time.Time{})
	go func() {
		defer close(watched)
		n, err := c.Conn.Read(c.ahead[:])
		c.held = n
		if n == 0 && !errors.Is(err, os.ErrDeadlineExceeded) {
			disconnected()
		}
	}()
}

// unwatch ends the watch, if there is one, and waits for its goroutine.
func (c *conn) unwatch() {
	if c.watched == nil {
		return
	}
	_ = c.SetReadDeadline(time.Unix(1, 0))
	<-c.watched
	_ = c.SetReadDeadline(time.Time{}) // the next reader sets its own
	c.watched = nil
}
