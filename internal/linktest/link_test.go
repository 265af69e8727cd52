package linktest

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"crossgate/internal/must"
)

// echo sends back all data, until the test ends.
func echo(t *testing.T, network, address string) net.Listener {
	t.Helper()
	listener := must.Get(net.Listen(network, address))(t)
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, c); c.Close() }()
		}
	}()
	return listener
}

// moment is how long a test waits for something that must not happen.
const moment = 50 * time.Millisecond

func send(c net.Conn, text string) error {
	_, err := io.WriteString(c, text)
	return err
}

// hear reads as many bytes as text has, within the limit.
func hear(c net.Conn, text string, limit time.Duration) error {
	_ = c.SetReadDeadline(time.Now().Add(limit))
	got := make([]byte, len(text))
	if _, err := io.ReadFull(c, got); err != nil {
		return err
	}
	if string(got) != text {
		return errors.New("heard " + string(got))
	}
	return nil
}

func TestLink(t *testing.T) {
	for network, addresses := range map[string][2]string{
		"tcp":  {"127.0.0.1:0", "127.0.0.1:0"},
		"unix": {filepath.Join(t.TempDir(), "server"), filepath.Join(t.TempDir(), "link")},
	} {
		t.Run(network, func(t *testing.T) {
			l := must.Get(Open(network, addresses[1], echo(t, network, addresses[0]).Addr().String()))(t)
			t.Cleanup(func() { must.Do(t, l.Close()) })
			c := dial(t, network, l)
			check(t, "healthy", send(c, "a"), hear(c, "a", time.Minute))

			l.Stand()
			check(t, "standing", send(c, "b"))
			if err := hear(c, "b", moment); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("standing still: %v, want no answer", err)
			}
			other := dial(t, network, l)
			check(t, "standing", send(other, "c"), l.Heal(), hear(c, "b", time.Minute), hear(other, "c", time.Minute))

			l.Slow(time.Millisecond)
			check(t, "slow", send(c, "d"), hear(c, "d", time.Minute))

			l.Lose()
			late := dial(t, network, l)
			for _, each := range []net.Conn{c, late} {
				check(t, "losing", send(each, "e"))
				if err := hear(each, "e", moment); !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("losing: %v, want no answer", err)
				}
			}
			check(t, "healed", l.Heal())
			for _, each := range []net.Conn{c, late} {
				if err := hear(each, "e", time.Minute); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("a connection whose bytes were lost: %v, want it closed", err)
				}
			}

			last := dial(t, network, l)
			check(t, "healed", send(last, "f"), hear(last, "f", time.Minute))
			l.Refuse()
			if err := hear(last, "g", time.Minute); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("refusing: %v, want the connection closed", err)
			}
			if c, err := net.Dial(network, l.Address()); err == nil {
				c.Close()
				t.Error("a link that refuses has taken a connection")
			}
			check(t, "healed", l.Heal())
			again := dial(t, network, l)
			check(t, "healed", send(again, "h"), hear(again, "h", time.Minute))
		})
	}
}

func dial(t *testing.T, network string, l *Link) net.Conn {
	t.Helper()
	c := must.Get(net.Dial(network, l.Address()))(t)
	t.Cleanup(func() { c.Close() })
	return c
}

func check(t *testing.T, when string, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatalf("%s: %v", when, err)
	}
}

func TestFreeAddressIsNoneThatTheSystemGives(t *testing.T) {
	given := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer given.Close()
	for range 20 {
		address := must.Get(FreeAddress())(t)
		free, err := net.ResolveTCPAddr("tcp", address)
		if err != nil || !free.IP.IsLoopback() || free.Port >= given.Addr().(*net.TCPAddr).Port {
			t.Errorf("FreeAddress = %s, %v; the system gives %s", address, err, given.Addr())
		}
	}
}
