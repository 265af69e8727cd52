package shared_test

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"crossgate/cache"
	"crossgate/cache/shared"
	"crossgate/internal/must"
	"crossgate/internal/redistest"
)

// TestStreamIsReadByOthers appends to a stream, continues after a restart of either side, and reads it with redis-cli
// and a consumer group.
func TestStreamIsReadByOthers(t *testing.T) {
	server := redistest.Serve(t)
	s := must.Get(shared.NewStream(server.URL(), "events"))(t)
	defer s.Close()
	if last, err := s.Last(t.Context()); last != 0 || err != nil {
		t.Fatalf("Last of none = %d, %v", last, err)
	}
	const begin = 1_784_948_740_000_000
	entry := func(n uint64) shared.StreamEntry {
		return shared.StreamEntry{Number: begin + n, Fields: []string{"event", fmt.Sprintf(`{"n":%d}`, n)}}
	}
	if last := must.Get(s.Append(t.Context(), 0, []shared.StreamEntry{entry(1), entry(2)}, 0))(t); last != begin+2 {
		t.Errorf("Append = %d, want %d", last, begin+2)
	}
	for _, n := range []uint64{1, 2} {
		if _, err := s.Append(t.Context(), begin+n, []shared.StreamEntry{entry(2)}, 0); err == nil {
			t.Errorf("entry 2 is there twice, after %d", n)
		}
	}
	s.Close() // as in a new process
	if last, err := s.Last(t.Context()); last != begin+2 || err != nil {
		t.Fatalf("Last = %d, %v, want %d", last, err, begin+2)
	}
	client, err := exec.LookPath("redis-cli")
	if err != nil {
		t.Skip("redis-cli is not there; Debian and Ubuntu: apt-get install redis-tools")
	}
	read := func(arguments ...string) string {
		t.Helper()
		command := exec.CommandContext(t.Context(), client, append([]string{"-s", strings.TrimPrefix(server.URL(), "unix://")}, arguments...)...)
		return string(must.Get(command.Output())(t))
	}
	if got := read("XRANGE", "events", "-", "+"); !strings.Contains(got, fmt.Sprint(begin+1, "-0\nevent\n{\"n\":1}")) || !strings.Contains(got, `{"n":2}`) {
		t.Errorf("redis-cli reads %q", got)
	}
	read("XGROUP", "CREATE", "events", "shop", "0")
	if got := read("XREADGROUP", "GROUP", "shop", "one", "COUNT", "1", "STREAMS", "events", ">"); !strings.Contains(got, `{"n":1}`) || strings.Contains(got, `{"n":2}`) {
		t.Errorf("the group's first consumer reads %q", got)
	}
	if got := read("XREADGROUP", "GROUP", "shop", "two", "STREAMS", "events", ">"); !strings.Contains(got, `{"n":2}`) || strings.Contains(got, `{"n":1}`) {
		t.Errorf("the group's second consumer reads %q", got)
	}
	if got := read("XACK", "events", "shop", fmt.Sprint(begin+1, "-0")); strings.TrimSpace(got) != "1" {
		t.Errorf("XACK: %q", got)
	}
	for n := uint64(3); n < 300; n++ { // entries are dropped in whole nodes of a hundred
		must.Get(s.Append(t.Context(), begin+n-1, []shared.StreamEntry{entry(n)}, begin+290))(t)
	}
	if got := strings.TrimSpace(read("XLEN", "events")); len(got) > 2 && got > "199" {
		t.Errorf("XLEN %s: old entries are kept", got)
	}
	must.Do(t, server.Flush())
	if last, err := s.Append(t.Context(), begin+299, []shared.StreamEntry{entry(300)}, 0); err == nil {
		t.Errorf("after a flush, the stream has only %d", last)
	}
}

// TestAServerThatCannotTrimByAgeIsNamed reads what servers say of themselves.
func TestAServerThatCannotTrimByAgeIsNamed(t *testing.T) {
	const old = "events need Redis 6.2 or newer, or Valkey, and the server is Redis 6.0.16"
	for info, want := range map[string]string{
		"# Server\r\nredis_version:6.0.16\r\nredis_mode:standalone\r\n": old,
		"# Server\r\nredis_version:6.2.0\r\nredis_mode:standalone\r\n":  "",
		"# Server\r\nredis_version:7.2.4\r\nserver_name:valkey\r\n":     "",
		"# Server\r\nredis_version:255.255.255\r\n":                     "",
		"NOPERM this user has no permissions to run the 'info' command": "",
		"": "",
	} {
		if err := shared.TooOld(info); (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%q: %v, want %q", info, err, want)
		}
	}
}

// start runs a cache with a shared level until the test ends, and returns once it is connected.
func start(t *testing.T, url string) (*cache.Cache[string], *shared.Cache) {
	t.Helper()
	behind := must.Get(shared.New(shared.Options{URL: url, Timeout: 20 * time.Second, Silence: time.Minute}))(t)
	front := must.Get(cache.New(cache.Options[string]{
		Shared: behind,
		Tags:   func(v string) []cache.Key { return []cache.Key{cache.KeyOf("tag " + v[:1])} },
		Codec: cache.Codec[string]{
			Encode: func(text string) []byte { return []byte(text) },
			Decode: func(text []byte, _ cache.Life, _ time.Duration) (string, error) { return string(text), nil },
		},
	}))(t)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { behind.Run(ctx) })
	t.Cleanup(func() {
		front.Close()
		cancel()
		running.Wait()
	})
	for deadline := time.Now().Add(time.Minute); ; <-time.After(time.Millisecond) {
		if state, ok := behind.Status(); ok {
			return front, behind
		} else if time.Now().After(deadline) {
			t.Fatal(state)
		}
	}
}

// TestPurgesHoldBeforeTheServerHearsOfThem delays publishing a purge while the server still has the purged value.
func TestPurgesHoldBeforeTheServerHearsOfThem(t *testing.T) {
	url := redistest.Serve(t).URL()
	a, onA := start(t, url)
	b, onB := start(t, url)
	key, hour := cache.KeyOf("key"), cache.Life{Fresh: time.Hour, Stale: time.Hour, IfError: time.Hour}
	get := func(c *cache.Cache[string], value string, life cache.Life) cache.Result[string] {
		return must.Get(c.GetShared(t.Context(), key, func(context.Context) (string, cache.Life, error) { return value, life, nil }))(t)
	}
	get(a, "value", hour)
	if found, _ := onA.Claim(t.Context(), key, shared.Stale, time.Minute); found == nil {
		t.Fatal("the server does not have the value")
	}
	onB.HoldBack(shared.Hard, cache.KeyOf("tag v"))
	if got := get(b, "new", cache.Life{}); got.Value != "new" || got.Outcome != cache.Miss || got.Remote {
		t.Errorf("purged by tag: %+v, want a load", got)
	}
	onB.HoldBack(shared.Soft, key)
	// The previous load may still be in flight.
	for deadline := time.Now().Add(time.Minute); ; <-time.After(time.Millisecond) {
		got := get(b, "new", cache.Life{})
		if got.Value == "value" && got.Outcome == cache.Stale && got.Remote {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("purged softly: %+v, want the stale value of the server", got)
		}
	}
}
