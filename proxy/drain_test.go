package proxy_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/internal/must"
)

// network is an in-memory listener that can be dialled.
type network struct {
	calls  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newNetwork() *network { return &network{calls: make(chan net.Conn), closed: make(chan struct{})} }

func (w *network) Accept() (net.Conn, error) {
	select {
	case conn := <-w.calls:
		return conn, nil
	case <-w.closed:
		return nil, net.ErrClosed
	}
}

func (w *network) Close() error {
	w.once.Do(func() { close(w.closed) })
	return nil
}

func (w *network) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

func (w *network) dial(context.Context, string, string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case w.calls <- peer{far}:
		return near, nil
	case <-w.closed:
		return nil, errors.New("connection refused")
	}
}

// peer is a connection from 10.0.0.1.
type peer struct{ net.Conn }

func (peer) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 1} }

// TestDrainingServerEndsItsConnections queries a server that is stopping but still accepts requests.
func TestDrainingServerEndsItsConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, stop := running(t, newWorld(t), func(o *parts) { o.Notice = time.Minute })
		ended := make(chan error, 1)
		for _, draining := range []bool{false, true} {
			if draining {
				go func() { ended <- stop() }()
				synctest.Wait()
			}
			response := must.Get(client.Get("http://crossgate" + ordersPath + claimedTx))(t)
			_, _ = io.Copy(io.Discard, response.Body)
			response.Body.Close()
			if response.StatusCode != http.StatusOK || response.Close != draining {
				t.Errorf("%s, ends the connection: %v, want 200 and %v", response.Status, response.Close, draining)
			}
		}
		must.Do(t, <-ended)
	})
}
