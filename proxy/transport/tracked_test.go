package transport

import (
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pieces is a socket that records each write. Once stuck, writes only end by its deadline.
type pieces struct {
	net.Conn
	gate    chan struct{} // nil: open
	stuck   bool
	written []string
	limit   time.Time
	closed  bool
}

func (p *pieces) Write(b []byte) (int, error) {
	if p.stuck {
		time.Sleep(time.Until(p.limit))
		return 0, os.ErrDeadlineExceeded
	}
	if p.gate != nil {
		<-p.gate
	}
	p.written = append(p.written, string(b))
	return len(b), nil
}

func (p *pieces) SetWriteDeadline(limit time.Time) error { p.limit = limit; return nil }

func (p *pieces) Close() error { p.closed = true; return nil }

// TestFramesAreSentTogether writes as net/http writes HTTP/2: to a client that reads, which must lose nothing, and to
// one that does not.
func TestFramesAreSentTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := New(Options{WriteLimit: time.Minute})
		socket := &pieces{gate: make(chan struct{})}
		c := &conn{server: server}
		c.two.Store(true)
		tracked := newTrackedConn(socket, c)
		frames := []string{"settings", "headers", strings.Repeat("data", oneWrite/8), "end"}
		for _, each := range frames {
			_, _ = io.WriteString(tracked, each)
			synctest.Wait() // the first is being sent while the others become ready
		}
		close(socket.gate)
		if err := tracked.Close(); err != nil || !socket.closed {
			t.Errorf("Close: %v, closed %v", err, socket.closed)
		}
		if want := []string{frames[0], strings.Join(frames[1:], "")}; !slices.Equal(socket.written, want) {
			t.Errorf("%d writes of %d bytes, want two, the second of %d", len(socket.written), len(strings.Join(socket.written, "")), len(want[1]))
		}

		socket = &pieces{stuck: true}
		tracked = newTrackedConn(socket, c)
		began := time.Now()
		var err error
		for writes := 0; err == nil && writes < 4; writes++ { // one is in flight, one is ready, one waits
			_, err = tracked.Write(make([]byte, oneWrite))
		}
		if took := time.Since(began); !errors.Is(err, os.ErrDeadlineExceeded) || took != time.Minute || !socket.closed {
			t.Errorf("a client that does not read: %v after %v, closed %v", err, took, socket.closed)
		}
		if err := tracked.Close(); err != nil || time.Since(began) != time.Minute {
			t.Errorf("Close after a failure: %v after %v", err, time.Since(began))
		}
	})
}
