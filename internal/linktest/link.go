// Package linktest puts a link in front of a server in tests, which fails like networks and machines do: it refuses,
// hangs, silently loses everything, or is slow.
package linktest

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// state is how connections and the bytes sent over them are treated.
type state uint8

const (
	healthy state = iota
	refusing
	still
	losing
	slow
	closed
)

// pieceBytes is the most that a slow link transmits at a time.
const pieceBytes = 16 << 10

// Link forwards bytes to its target and back until Close. It is safe for concurrent use.
type Link struct {
	network, address, to string
	serving              sync.WaitGroup
	roundTrips           atomic.Int64

	mu       sync.Mutex
	listener net.Listener
	state    state
	late     time.Duration
	changed  chan struct{} // closed when the state changes
	ends     map[net.Conn]struct{}
}

// Open returns a healthy link from an address to a server's, both of one network: tcp or unix. For port 0 it chooses a
// free one, see Address.
func Open(network, address, to string) (*Link, error) {
	l := &Link{network: network, address: address, to: to, changed: make(chan struct{}), ends: map[net.Conn]struct{}{}}
	if err := l.listen(); err != nil {
		return nil, err
	}
	l.address = l.listener.Addr().String()
	return l, nil
}

// Address returns the address of the link.
func (l *Link) Address() string { return l.address }

// listen must be called with the mutex held, or before the link is shared.
func (l *Link) listen() error {
	if l.network == "unix" {
		if err := os.Remove(l.address); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	listener, err := net.Listen(l.network, l.address) //nolint:noctx // it takes no time
	if err != nil {
		return err
	}
	l.listener = listener
	l.serving.Go(func() { l.accept(listener) })
	return nil
}

// Refuse breaks all connections and rejects new ones, like a server that was killed.
func (l *Link) Refuse() { l.become(refusing, 0) }

// Stand makes everything hang, like a process that was stopped: connections stay and can be made. Data sent meanwhile
// arrives after Heal.
func (l *Link) Stand() { l.become(still, 0) }

// Lose accepts connections and data but forwards nothing. Heal breaks those connections.
func (l *Link) Lose() { l.become(losing, 0) }

// Slow delays each piece of up to 16 KiB, and the next one until it has arrived, so that bandwidth is limited, too.
func (l *Link) Slow(late time.Duration) { l.become(slow, late) }

// Heal restores the healthy state.
func (l *Link) Heal() error {
	l.become(healthy, 0)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.listener != nil {
		return nil
	}
	return l.listen()
}

// Close closes the link and all its connections.
func (l *Link) Close() error {
	l.become(closed, 0)
	l.serving.Wait()
	return nil
}

// become changes the state. Connections end when the link starts to refuse or closes, or stops losing bytes.
func (l *Link) become(now state, late time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state == closed {
		return
	}
	before := l.state
	l.state, l.late = now, late
	close(l.changed)
	l.changed = make(chan struct{})
	if before == losing || now == refusing || now == closed {
		for end := range l.ends {
			breakOff(end)
		}
	}
	if (now == refusing || now == closed) && l.listener != nil {
		_ = l.listener.Close()
		l.listener = nil
	}
}

// breakOff ends a connection, with a reset if its network has one.
func breakOff(end net.Conn) {
	if tcp, is := end.(*net.TCPConn); is {
		_ = tcp.SetLinger(0)
	}
	_ = end.Close()
}

func (l *Link) accept(listener net.Listener) {
	for {
		near, err := listener.Accept()
		if err != nil {
			return
		}
		l.serving.Go(func() { l.connect(near) })
	}
}

func (l *Link) connect(near net.Conn) {
	defer near.Close()
	if !l.keep(near) {
		return
	}
	defer l.forget(near)
	if !l.admit() {
		_, _ = io.Copy(io.Discard, near) // until it is broken or the client gives up
		return
	}
	far, err := net.Dial(l.network, l.to) //nolint:noctx // the server is on this machine
	if err != nil {
		breakOff(near)
		return
	}
	defer far.Close()
	if !l.keep(far) {
		return
	}
	defer l.forget(far)
	var both sync.WaitGroup
	var asked atomic.Bool // the near end spoke last
	both.Go(func() {
		l.pass(near, far, func() {
			if !asked.Swap(true) {
				l.roundTrips.Add(1)
			}
		})
	})
	both.Go(func() { l.pass(far, near, func() { asked.Store(false) }) })
	both.Wait()
}

// RoundTrips counts requests that waited for their answers, on all connections: a slow link delays each. Requests sent
// without waiting for the previous answer count once.
func (l *Link) RoundTrips() int64 { return l.roundTrips.Load() }

// keep registers a connection, to be broken by states without connections. It returns false in such a state.
func (l *Link) keep(end net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state == refusing || l.state == closed {
		return false
	}
	l.ends[end] = struct{}{}
	return true
}

func (l *Link) forget(end net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.ends, end)
}

// pass copies from one end to the other until either is closed. It calls spoke for each piece before forwarding it.
func (l *Link) pass(from, to net.Conn, spoke func()) {
	defer from.Close()
	defer to.Close()
	piece := make([]byte, pieceBytes)
	for {
		n, err := from.Read(piece)
		if n > 0 {
			spoke()
		}
		if n > 0 && l.admit() {
			if _, failed := to.Write(piece[:n]); failed != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (l *Link) look() (now state, late time.Duration, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state, l.late, l.changed
}

// admit waits until a piece may be forwarded, or returns false if it is lost.
func (l *Link) admit() bool {
	for {
		now, late, changed := l.look()
		switch now {
		case healthy:
			return true
		case still:
			<-changed
		case slow:
			select {
			case <-time.After(late):
				return true
			case <-changed:
			}
		default:
			return false
		}
	}
}

// Ports of FreeAddress, below those that systems assign to outgoing connections (IANA: from 49152; Linux:
// configurable).
const (
	freePorts    = 8_000
	usualOutward = 32_768 // Linux's default of net.ipv4.ip_local_port_range
)

// FreeAddress returns an unused local address for a program that takes one as a parameter. Unlike a port chosen by the
// system, its port is not assigned to an outgoing connection before the program listens.
func FreeAddress() (string, error) {
	first := outward() - freePorts
	for range 100 {
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", first+rand.IntN(freePorts)))
		if err == nil {
			return listener.Addr().String(), listener.Close()
		}
	}
	return "", errors.New("no free port was found")
}

// outward returns the first port that the system assigns to outgoing connections, if there is room below it.
func outward() int {
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return usualOutward
	}
	var first int
	if _, err := fmt.Sscan(string(text), &first); err != nil || first < 2*freePorts {
		return usualOutward
	}
	return first
}

// Await calls ready until it succeeds, for a minute at most, and returns its last error.
func Await(ready func() error) error {
	for deadline := time.Now().Add(time.Minute); ; <-time.After(10 * time.Millisecond) {
		if err := ready(); err == nil || time.Now().After(deadline) {
			return err
		}
	}
}
