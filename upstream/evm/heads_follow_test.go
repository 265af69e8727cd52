package evm

import (
	"context"
	"encoding/binary"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/follow"
	"crossgate/order/query"
	"crossgate/store"
)

// steered is a chain without orders whose newest block is set by the test.
type steered struct {
	newest atomic.Uint64
	looks  atomic.Int64 // calls of Head
}

func (s *steered) Head(ctx context.Context) (order.Head, error) {
	s.looks.Add(1)
	newest := s.newest.Load()
	latest, err := s.Block(ctx, newest)
	return order.Head{Latest: latest, Finalized: newest - 5}, err
}

// Block returns the block that told describes.
func (s *steered) Block(ctx context.Context, number uint64) (order.Block, error) {
	b := order.Block{Number: number, Time: 16}
	binary.BigEndian.PutUint64(b.Hash[24:], number)
	binary.BigEndian.PutUint64(b.Parent[24:], number-1)
	return b, ctx.Err()
}

func (s *steered) Events(ctx context.Context, _, _ uint64) ([]order.Event, error) {
	return nil, ctx.Err()
}

func (s *steered) EventsIn(context.Context, chain.TxHash) (order.Evidence, error) {
	return order.Evidence{}, order.ErrNotFound
}

// looked returns how often the head was requested within a time.
func (s *steered) looked(within time.Duration) int64 {
	before := s.looks.Load()
	<-time.After(within)
	return s.looks.Load() - before
}

// pipes is a net.Listener of in-memory connections, which works inside a synctest bubble.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	accepted, open := <-p
	if !open {
		return nil, net.ErrClosed
	}
	return accepted, nil
}

func (p pipes) Close() error   { return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }

func (p pipes) dial(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	p <- theirs
	return ours, nil
}

// hangUp makes crying close the connection.
const hangUp = ""

// crying returns a WebSocket endpoint that sends the texts from say.
func crying(t *testing.T, say <-chan string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		connection, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = connection.CloseNow() }()
		for _, answer := range []string{`{"jsonrpc":"2.0","id":1,"result":"0x1"}`, `{"jsonrpc":"2.0","id":2,"result":"0x9ce5"}`} {
			if _, _, err := connection.Read(r.Context()); err != nil {
				t.Error(err)
				return
			}
			if err := connection.Write(r.Context(), websocket.MessageText, []byte(answer)); err != nil {
				t.Error(err)
				return
			}
		}
		left := connection.CloseRead(context.WithoutCancel(r.Context())).Done()
		for {
			select {
			case <-left:
				return
			case text := <-say:
				if text == hangUp || connection.Write(r.Context(), websocket.MessageText, []byte(text)) != nil {
					return
				}
			}
		}
	})
}

// subscribed returns a subscription to a crying endpoint, which is part of the test's synctest bubble until stop.
func subscribed(t *testing.T, c chain.Chain, say <-chan string) (heads *HeadSubscription, stop func()) {
	t.Helper()
	listener := make(pipes)
	server := &http.Server{Handler: crying(t, say), ReadHeaderTimeout: time.Minute}
	serving := make(chan error, 1)
	go func() { serving <- server.Serve(listener) }()
	heads = must.Get(NewHeadSubscription(c, HeadSubscriptionOptions{Name: "node", URL: "ws://node.example"}))(t)
	heads.client = &http.Client{Transport: &http.Transport{DialContext: listener.dial, DisableKeepAlives: true}}
	return heads, func() {
		close(listener)
		<-serving
		_ = server.Close()
	}
}

// TestAFollowerIsToldOfHeads follows Ethereum on a virtual clock, polling every two seconds, with a WebSocket that
// announces heads, disconnects, sends nonsense, and comes back.
func TestAFollowerIsToldOfHeads(t *testing.T) {
	db := must.Get(store.OpenSQLite(t.Context(), t.TempDir()+"/orders.db"))(t)
	t.Cleanup(func() { _ = db.Close() })
	synctest.Test(t, func(t *testing.T) {
		ethereum := chain.Chain{ID: 1, Native: 1, Family: chain.EVM, BlockTime: 12 * time.Second}
		say := make(chan string)
		heads, stopServing := subscribed(t, ethereum, say)
		source := &steered{}
		source.newest.Store(100)
		x := query.New(follow.New(db, map[chain.ID]order.Source{1: source}, follow.Options{
			Chains: chain.NewRegistry(ethereum), Lookback: 10, Logger: slog.New(slog.DiscardHandler),
			Pace: follow.Pace{Asked: 2 * time.Second}, Announcers: map[chain.ID][]follow.Announcer{1: {heads.Announce}},
		}), query.Options{})
		ctx, stop := context.WithCancel(t.Context())
		running := make(chan error, 1)
		go func() { running <- x.Run(ctx) }()
		indexed := func(number uint64, when string) {
			t.Helper()
			if got := x.Basis().Chains[0].Indexed; got != number {
				t.Errorf("%s block %d is the newest that was read, want %d", when, got, number)
			}
		}

		<-time.After(11 * time.Second)
		say <- told(100)
		if n := source.looked(12 * time.Second); n > 1 {
			t.Errorf("%d looks in 12 s at a chain with nothing new, want 1 at most", n)
		}
		source.newest.Store(101)
		say <- told(101)
		<-time.After(time.Millisecond)
		indexed(101, "a millisecond after block 101 was told of")

		for i, end := range []string{hangUp, "nonsense"} {
			number := uint64(102 + i)
			say <- end
			source.newest.Store(number)
			<-time.After(2*time.Second + time.Millisecond) // after the look that may be due at that moment
			indexed(number, "two seconds after the connection was lost")
			if n := source.looked(20 * time.Second); n < 9 {
				t.Errorf("%d looks in 20 s after the connection was lost, want one in 2 s", n)
			}
			say <- told(number)
			<-time.After(2 * time.Second)
			if n := source.looked(12 * time.Second); n > 1 {
				t.Errorf("%d looks in 12 s after heads are told of again, want 1 at most", n)
			}
		}
		stop()
		if err := <-running; err != nil {
			t.Errorf("Run: %v", err)
		}
		stopServing()
	})
}
