package proxy

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"sync"
)

// gatherLimit is the longest body that is gathered, bytes. Of longer ones each write is worth its while.
const gatherLimit = 64 << 10

// gatherListener has whole answers leave in one write. net/http has a buffer of 4 kB: an answer that is a little longer
// would leave in two, which is twice the work for the kernel, the network and the client.
type gatherListener struct{ net.Listener }

// Accept waits for the next connection.
func (l gatherListener) Accept() (net.Conn, error) {
	connection, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &gatherConn{Conn: connection}, nil
}

// gatherConn holds what is written of an announced answer until all of it is there.
type gatherConn struct {
	net.Conn
	awaited int           // bytes of an announced body that are to come; 0: nothing is announced
	held    *bytes.Buffer // the beginning of the announced answer; nil before its header
}

type gatherKey struct{}

// withConn is the ConnContext of an http.Server on a gatherListener: handlers can announce what they are about to send.
func withConn(ctx context.Context, connection net.Conn) context.Context {
	return context.WithValue(ctx, gatherKey{}, connection)
}

// announce says that the header and a body of so many bytes are the next to be written to the client of r.
func announce(r *http.Request, body int) {
	if connection, gathers := r.Context().Value(gatherKey{}).(*gatherConn); gathers && body <= gatherLimit {
		connection.awaited = body
	}
}

var gatherBuffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// Write takes the bytes at once, or with others of the same answer. The server calls it from one goroutine at a time.
func (c *gatherConn) Write(p []byte) (int, error) {
	body := p
	if c.awaited > 0 && c.held == nil {
		var ends bool
		if _, body, ends = bytes.Cut(p, []byte("\r\n\r\n")); !ends {
			c.awaited = 0 // a header of several writes
		}
	}
	c.awaited = max(c.awaited-len(body), 0)
	if c.awaited == 0 && c.held == nil {
		return c.Conn.Write(p)
	}
	if c.held == nil {
		c.held = gatherBuffers.Get().(*bytes.Buffer)
	}
	c.held.Write(p)
	if c.awaited > 0 {
		return len(p), nil
	}
	held := c.held
	c.held = nil
	defer gatherBuffers.Put(held)
	defer held.Reset()
	if _, err := c.Conn.Write(held.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}
