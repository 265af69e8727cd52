package transport

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pieces is a socket that notes what is written to it at a time. Nothing is taken once it is stuck, but by its deadline.
type pieces struct {
	net.Conn
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
	p.written = append(p.written, string(b))
	return len(b), nil
}

func (p *pieces) SetWriteDeadline(limit time.Time) error { p.limit = limit; return nil }

func (p *pieces) Close() error { p.closed = true; return nil }

// TestFramesAreSentTogether writes as net/http writes HTTP/2: to those who read, whom nothing is lost for, and to one who
// does not.
func TestFramesAreSentTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := New(Options{WriteLimit: time.Minute})
		socket := &pieces{}
		c := &conn{server: server}
		c.two.Store(true)
		tracked := newTrackedConn(socket, c)
		frames := []string{"headers", strings.Repeat("data", oneWrite/4), "end"}
		for _, each := range frames[:2] {
			_, _ = io.WriteString(tracked, each)
		}
		synctest.Wait()
		_, _ = io.WriteString(tracked, frames[2])
		if err := tracked.Close(); err != nil || !socket.closed {
			t.Errorf("Close: %v, closed %v", err, socket.closed)
		}
		if got, want := strings.Join(socket.written, ""), strings.Join(frames, ""); got != want || len(socket.written) != 2 {
			t.Errorf("%d bytes in %d writes, want %d in 2", len(got), len(socket.written), len(want))
		}

		socket = &pieces{stuck: true}
		tracked = newTrackedConn(socket, c)
		began := time.Now()
		var err error
		for writes := 0; err == nil && writes < 4; writes++ { // one is sent, one is ready, one waits
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
