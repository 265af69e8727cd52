package shared

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gomodule/redigo/redis"
	"go.uber.org/goleak"

	"crossgate/internal/measured"
	"crossgate/internal/must"
	"crossgate/internal/redistest"
)

func TestAddressesAreNotTold(t *testing.T) {
	for _, url := range []string{
		"http://user:canary@host", "redis://user:canary@host:port:1/x", "redis://:canary@host/a/b", "://canary",
		"rediss://user:12/canary@host", "rediss://user:12#canary@host:6379/0", "redis://user:12?canary@host",
	} {
		if _, err := New(Options{URL: url}); err == nil || bytes.Contains([]byte(err.Error()), []byte("canary")) {
			t.Errorf("NewShared: %v, want an error that does not tell the address", err)
		}
	}
}

// TestCertificatesThatCannotBeRead are mistakes that are reported at startup.
func TestCertificatesThatCannotBeRead(t *testing.T) {
	authority := redistest.NewAuthority(t)
	own := authority.Issue(t, "gateway")
	absent := filepath.Join(t.TempDir(), "canary.pem")
	for _, test := range []struct {
		file, why string
	}{
		{absent, "certificate of the authority: no such file"},
		{own.Key, "no certificate in PEM"},
	} {
		_, err := New(Options{URL: "rediss://localhost", CAFile: test.file})
		if err == nil || !strings.Contains(err.Error(), test.why) || strings.Contains(err.Error(), "canary") {
			t.Errorf("NewShared with %+v: %v, want %s and no path", test.file, err, test.why)
		}
	}
}

// TestStreamsFollowTheirAddress makes a replica of the server that a stream is connected to, and leads the address to
// another one, as a failover does.
func TestStreamsFollowTheirAddress(t *testing.T) {
	former, next, link := redistest.Serve(t), redistest.Serve(t), filepath.Join(t.TempDir(), "socket")
	lead := func(to *redistest.Server) {
		must.Do(t, errors.Join(os.RemoveAll(link), os.Symlink(strings.TrimPrefix(to.URL(), "unix://"), link)))
	}
	lead(former)
	s := must.Get(NewStream("unix://"+link, "events"))(t)
	defer s.Close()
	add := func(last, n uint64) error {
		_, err := s.Append(t.Context(), last, []StreamEntry{{Number: n, Fields: []string{"event", "{}"}}}, 0)
		return err
	}
	must.Do(t, add(0, 1))
	must.Get(startPipeline(t, former).do(t.Context(), "REPLICAOF", "127.0.0.1", "1"))(t)
	lead(next)
	if err := add(1, 2); err == nil || !strings.Contains(err.Error(), "READONLY") {
		t.Errorf("a replica takes an entry: %v", err)
	}
	must.Do(t, add(0, 2))
}

// TestARefusalIsForgotten lets the server refuse calls now and an hour later.
func TestARefusalIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := must.Get(New(Options{URL: "redis://cache"}))(t)
		c.connected.Store(&connection{})
		now := measured.Start(t)
		defer c.observeConnection()()
		for range 2 {
			first, second := c.noteError(redis.Error("OOM")), c.noteError(redis.Error("OOM"))
			if state, ok := c.Status(); !first || second || ok || !strings.Contains(state, "refused a call: OOM") {
				t.Errorf("two refusals are news: %v, %v; then it says %q", first, second, state)
			}
			if up := now()["crossgate.cache.shared.up{}"]; up != 0 {
				t.Errorf("while it refuses calls, it is up: %v", up)
			}
			time.Sleep(time.Hour)
			if state, ok := c.Status(); !ok || now()["crossgate.cache.shared.up{}"] != 1 {
				t.Errorf("an hour later it says %q", state)
			}
		}
	})
}

// FuzzParseNotice parses arbitrary messages on the replicas' channel.
func FuzzParseNotice(f *testing.F) {
	for _, n := range []notice{
		{purgedHard, newToken(), []Key{KeyOf("a"), KeyOf("b")}},
		{purgedSoftly, newToken(), nil},
		{released, newToken(), []Key{KeyOf("a")}},
	} {
		f.Add(n.text())
	}
	f.Add("d")
	f.Fuzz(func(t *testing.T, text string) {
		n, ok := parseNotice(text)
		if !ok {
			return
		}
		if again, ok := parseNotice(n.text()); !ok || !reflect.DeepEqual(again, n) || n.text() != text {
			t.Errorf("%q is %+v, written %q and read again %+v, %v", text, n, n.text(), again, ok)
		}
	})
}

// TestServersDoNotTellThePassword uses a server that does not know AUTH, and quotes it as Redis quotes unknown commands
// (processCommand in server.c).
func TestServersDoNotTellThePassword(t *testing.T) {
	for _, user := range []string{"", "gateway"} {
		listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
		var serving sync.WaitGroup
		serving.Go(func() {
			there, err := listener.Accept()
			if err != nil {
				return
			}
			defer there.Close()
			in := bufio.NewReader(there)
			var words []string
			for len(words) < 5 || user != "" && len(words) < 7 {
				line, err := in.ReadString('\n')
				if err != nil {
					return
				}
				words = append(words, strings.TrimSpace(line))
			}
			_, _ = fmt.Fprintf(there, "-ERR unknown command 'AUTH', with args beginning with: '%s'\r\n", strings.Join(words[4:], "' '"))
		})
		s := server{network: "tcp", address: listener.Addr().String(), user: user, password: "canary77c1"}
		_, err := s.dial(t.Context(), time.Minute)
		if err == nil || !strings.Contains(err.Error(), "unknown command") || strings.Contains(err.Error(), s.password) {
			t.Errorf("as %q: %v", user, err)
		}
		listener.Close()
		serving.Wait()
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestQueuedPurgesMerge(t *testing.T) {
	p := newPublisher()
	p.add(Hard, KeyOf("a"))
	p.add(Soft, KeyOf("a"), KeyOf("b"))
	before := p.next()
	if len(before.byKey) != 2 || before.byKey[KeyOf("a")].how != Hard || before.byKey[KeyOf("b")].how != Soft {
		t.Errorf("next() = %+v, want a hard and b soft", before)
	}
	p.add(Soft, KeyOf("c"), KeyOf("b"))
	if how, purged := p.of(KeyOf("x"), []Key{KeyOf("c"), KeyOf("a")}); !purged || how != Hard {
		t.Errorf("of what is being published: %v, %v, want hard", how, purged)
	}
	if got := p.next(); len(got.byKey) != 3 || got.byKey[KeyOf("a")].how != Hard {
		t.Errorf("before it is published next() = %+v, want all three", got)
	}
	p.published(before.last)
	if _, purged := p.of(KeyOf("a"), nil); purged {
		t.Error("what was published is still queued")
	}
	if _, purged := p.of(KeyOf("b"), nil); !purged {
		t.Error("a purge that was added meanwhile is forgotten")
	}
	p.add(Soft, manyKeys()...)
	p.add(Soft, KeyOf("a"))
	if got := p.next(); got.all == 0 || len(got.byKey) != 1 {
		t.Error("more than can be remembered is not everything")
	}
	if how, purged := p.of(KeyOf("whatever"), nil); !purged || how != Hard {
		t.Errorf("of everything: %v, %v, want hard", how, purged)
	}
	p.published(p.next().last)
	if got := p.next(); got.all != 0 || len(got.byKey) != 0 {
		t.Errorf("after everything was published: %+v", got)
	}
}

func manyKeys() []Key {
	keys := make([]Key, MaxPurges+1)
	for i := range keys {
		keys[i] = KeyOf(fmt.Sprint("many ", i))
	}
	return keys
}
