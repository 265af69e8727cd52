package proxy_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// network is a listener and whoever dials it.
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

// replica is a server that can be stopped and started again.
type replica struct {
	client *http.Client
	stop   context.CancelFunc
	ended  chan error
}

func startReplica(t *testing.T, w *world) *replica {
	t.Helper()
	s, wires := w.server(t, func(o *parts) {
		o.Notice, o.Logger = 3*time.Second, slog.New(slog.DiscardHandler) // the world's log is for one server
	}), newNetwork()
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(rest)
	transport := &http.Transport{DialContext: wires.dial, MaxIdleConnsPerHost: 16}
	r := &replica{client: &http.Client{Transport: transport}, stop: stop, ended: make(chan error, 1)}
	go func() {
		r.ended <- s.Run(ctx, wires)
		transport.CloseIdleConnections()
	}()
	return r
}

// balancer gives requests to replicas in turn, as far as /readyz welcomed them when it last looked.
type balancer struct {
	replicas []atomic.Pointer[replica]
	ready    []atomic.Bool
	next     atomic.Int64
}

// look asks the replicas once a second whether they want requests, until ctx ends.
func (b *balancer) look(ctx context.Context) {
	for ctx.Err() == nil {
		for i := range b.replicas {
			response, err := b.replicas[i].Load().client.Get("http://replica/readyz")
			b.ready[i].Store(err == nil && response.StatusCode == http.StatusOK)
			if err == nil {
				_, _ = io.Copy(io.Discard, response.Body)
				response.Body.Close()
			}
		}
		<-time.After(time.Second)
	}
}

func (b *balancer) get(path string) error {
	turn := int(b.next.Add(1))
	for try := range b.replicas {
		i := (turn + try) % len(b.replicas)
		if !b.ready[i].Load() {
			continue
		}
		response, err := b.replicas[i].Load().client.Get("http://replica" + path)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != http.StatusOK {
			return fmt.Errorf("%d %s (%w)", response.StatusCode, body, err)
		}
		return nil
	}
	return errors.New("no replica is ready")
}

// TestDrainingServerEndsItsConnections asks a server that has been told to stop while it still takes requests.
func TestDrainingServerEndsItsConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, stop := running(t, newWorld(t), func(o *parts) { o.Notice = time.Minute })
		ended := make(chan error, 1)
		for _, draining := range []bool{false, true} {
			if draining {
				go func() { ended <- stop() }()
				synctest.Wait()
			}
			response, err := client.Get("http://crossgate" + ordersPath + claimedTx)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, response.Body)
			response.Body.Close()
			if response.StatusCode != http.StatusOK || response.Close != draining {
				t.Errorf("%s, ends the connection: %v, want 200 and %v", response.Status, response.Close, draining)
			}
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// TestRollingRestartLosesNoRequest replaces two replicas, one after the other, while a crowd asks a balancer that
// looks at /readyz once a second: not one request may fail, and each replica is asked no more when it goes.
func TestRollingRestartLosesNoRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		b := &balancer{replicas: make([]atomic.Pointer[replica], 2), ready: make([]atomic.Bool, 2)}
		for i := range b.replicas {
			b.replicas[i].Store(startReplica(t, w))
		}
		ctx, stop := context.WithCancel(t.Context())
		var busy sync.WaitGroup
		busy.Go(func() { b.look(ctx) })
		<-time.After(time.Second)
		var answered atomic.Int64
		for range 4 {
			busy.Go(func() {
				for ctx.Err() == nil {
					if err := b.get(ordersPath + claimedTx); err != nil {
						t.Errorf("after %d answers a request failed: %v", answered.Load(), err)
						return
					}
					answered.Add(1)
					<-time.After(50 * time.Millisecond)
				}
			})
		}
		for i := range b.replicas {
			before := answered.Load()
			old := b.replicas[i].Load()
			old.stop()
			if err := <-old.ended; err != nil {
				t.Errorf("replica %d: %v", i, err)
			}
			if got := answered.Load() - before; got < 200 {
				t.Errorf("%d requests were answered while replica %d stopped, want those of 3 s", got, i)
			}
			b.replicas[i].Store(startReplica(t, w))
			<-time.After(2 * time.Second)
		}
		stop()
		busy.Wait()
		for i := range b.replicas {
			last := b.replicas[i].Load()
			last.stop()
			if err := <-last.ended; err != nil {
				t.Error(err)
			}
		}
	})
}
