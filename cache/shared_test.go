package cache

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"crossgate/cache/shared"
	"crossgate/internal/must"
	"crossgate/internal/redistest"
)

var hour = Life{Fresh: time.Hour, Stale: time.Hour, IfError: time.Hour}

func TestReplicasHaveEachOthersValues(t *testing.T) {
	server := redistest.Serve(t)
	a, b := startReplicas(t, server.URL())
	wantResult(t, "the first", a.ask(t, constant("value", hour)), "value", Miss, false)
	got := b.ask(t, unloaded(t))
	wantResult(t, "the second", got, "value", Hit, true)
	if got.Life != hour {
		t.Errorf("the second replica gives it the life %v, want %v", got.Life, hour)
	}
	wantResult(t, "the second, again", b.ask(t, unloaded(t)), "value", Hit, false)
	if got := b.Stats(); got.Loads != 0 || got.Remotes != 1 {
		t.Errorf("the second replica counts %+v, want no load", got)
	}
	late := startReplica(t, server.URL()).connected(t)
	wantResult(t, "a third that comes later", late.ask(t, unloaded(t)), "value", Hit, true)
}

func TestValuesAgeOnTheServersClock(t *testing.T) {
	a, b := startReplicas(t, redistest.Serve(t).URL())
	const stale = 200 * time.Millisecond
	life := Life{Fresh: stale, Stale: time.Hour}
	a.ask(t, constant("old", life))
	<-time.After(stale)
	got, err := b.GetShared(t.Context(), named("key"), constant("new", hour))
	if err != nil || got.Age < stale {
		t.Errorf("its age is %v, %v, want %v at least", got.Age, err, stale)
	}
	wantResult(t, "past its freshness", got, "old", Stale, true)
	b.settle()
	wantResult(t, "after that", b.ask(t, unloaded(t)), "new", Hit, false)
}

func TestOldValuesOfOthersOutliveFailingLoads(t *testing.T) {
	a, b := startReplicas(t, redistest.Serve(t).URL())
	a.ask(t, constant("old", Life{Fresh: time.Millisecond, IfError: time.Hour}))
	<-time.After(2 * time.Millisecond)
	failing := func(context.Context) (string, Life, error) { return "", Life{}, errBroken }
	got := b.ask(t, failing)
	wantResult(t, "a load that goes wrong", got, "old", StaleIfError, true)
	if !errors.Is(got.Failure, errBroken) {
		t.Errorf("the failure is %v, want %v", got.Failure, errBroken)
	}
	wantResult(t, "right after", b.ask(t, unloaded(t)), "old", StaleIfError, false)
}

// TestOnlyWhatIsForOthersIsShared searches everything on the server for values.
func TestOnlyWhatIsForOthersIsShared(t *testing.T) {
	server := redistest.Serve(t)
	private := func(o *Options[string], _ *shared.Options) {
		o.Codec.Encode = func(text string) []byte {
			if text == "private" {
				return nil
			}
			return []byte(text)
		}
	}
	a := startReplica(t, server.URL(), private).connected(t)
	for name, get := range map[string]func(context.Context, Key, Load[string]) (Result[string], error){"private": a.GetShared, "local": a.Get, "common": a.GetShared} {
		must.Get(get(t.Context(), named(name), constant(name, hour)))(t)
	}
	must.Get(a.GetShared(t.Context(), named("no life"), constant("lifeless", Life{})))(t)
	a.settle()
	content := must.Get(server.Save())(t)
	for text, want := range map[string]bool{"private": false, "local": false, "lifeless": false, "common": true} {
		if got := bytes.Contains(content, []byte(text)); got != want {
			t.Errorf("the server holds %q: %v, want %v", text, got, want)
		}
	}
}

// TestNonsenseOnTheServerIsNoValue overwrites values on the server.
func TestNonsenseOnTheServerIsNoValue(t *testing.T) {
	a := startReplica(t, redistest.Serve(t).URL()).connected(t)
	b := startReplica(t, a.url, func(o *Options[string], _ *shared.Options) {
		o.Codec.Decode = func([]byte, Life, time.Duration) (string, error) { panic("decoded") }
	}).connected(t)
	a.ask(t, constant("value", hour))
	onServer(t, a, "HSET", nameOf("value", named("key")), "whole", "\xff")
	wantResult(t, "a value that cannot be read", b.ask(t, constant("own", Life{})), "own", Miss, false)
	wantResult(t, "the same", b.ask(t, constant("better", hour)), "better", Miss, false)
	wantResult(t, "replaced", startReplica(t, b.url).connected(t).ask(t, unloaded(t)), "better", Hit, true)
	onServer(t, a, "SET", nameOf("value", named("key")), "text")
	c := startReplica(t, b.url).connected(t)
	wantResult(t, "something else", c.ask(t, constant("own", hour)), "own", Miss, false)
	if state, ok := c.shared.Status(); ok || !strings.Contains(state, "WRONGTYPE") {
		t.Errorf("Status() = %s, %v, want what the server said", state, ok)
	}
}

func TestWhoLoadsAndDiesIsFollowed(t *testing.T) {
	a, b := startReplicas(t, redistest.Serve(t).URL())
	if _, lock := a.shared.Claim(t.Context(), named("key"), shared.Stale, time.Second); lock == nil {
		t.Fatal("no fill lock for a key that nobody has")
	}
	wantResult(t, "the next", b.ask(t, constant("value", hour)), "value", Miss, false)
	wantResult(t, "a third", startReplica(t, b.url).connected(t).ask(t, unloaded(t)), "value", Hit, true)
}

// nameOf returns the name of a key's entry on the server.
func nameOf(kind string, key Key) string {
	return "{crossgate:5}:" + kind + ":" + base64.RawURLEncoding.EncodeToString(key[:])
}

// onServer executes a command on the replica's server, and returns its integer reply.
func onServer(t *testing.T, r *replica, command ...string) int64 {
	t.Helper()
	connection := must.Get(redis.DialContext(t.Context(), "unix", strings.TrimPrefix(r.url, "unix://")))(t)
	defer connection.Close()
	arguments := make([]any, len(command)-1)
	for i, each := range command[1:] {
		arguments[i] = each
	}
	number, _ := must.Get(connection.Do(command[0], arguments...))(t).(int64)
	return number
}

// TestWhoIsLateDoesNotPut lets a fill lock expire because its holder does not renew it.
func TestWhoIsLateDoesNotPut(t *testing.T) {
	a, b := startReplicas(t, redistest.Serve(t).URL())
	_, late := a.shared.Claim(t.Context(), named("key"), shared.Stale, time.Second)
	if late == nil {
		t.Fatal("no fill lock for a key that nobody has")
	}
	b.ask(t, constant("newer", hour))
	late.Put(t.Context(), shared.Value{Fresh: time.Hour, Total: time.Hour, Body: []byte("older")}, nil)
	wantResult(t, "afterwards", startReplica(t, b.url).connected(t).ask(t, unloaded(t)), "newer", Hit, true)
}

func TestLongLoadsKeepTheirLock(t *testing.T) {
	const lockLife = time.Second
	server := redistest.Serve(t)
	a := startReplica(t, server.URL(), func(_ *Options[string], on *shared.Options) { on.LockLife = lockLife }).connected(t)
	b := startReplica(t, server.URL()).connected(t)
	var asked sync.WaitGroup
	begun := make(chan struct{})
	asked.Go(func() {
		a.ask(t, func(context.Context) (string, Life, error) {
			close(begun)
			<-time.After(lockLife + lockLife/2)
			return "value", hour, nil
		})
	})
	<-begun
	wantResult(t, "the other", b.ask(t, unloaded(t)), "value", Hit, true)
	asked.Wait()
}

func TestLoadsThatFailAreLeftToTheNext(t *testing.T) {
	a, b := startReplicas(t, redistest.Serve(t).URL())
	begun, end := make(chan struct{}), make(chan struct{})
	var asked sync.WaitGroup
	asked.Go(func() {
		_, err := a.GetShared(t.Context(), named("key"), func(context.Context) (string, Life, error) {
			close(begun)
			<-end
			panic("broken")
		})
		if err == nil || !strings.HasPrefix(err.Error(), "load panicked: broken") {
			t.Errorf("a load that panics: %v", err)
		}
	})
	<-begun
	waiting := make(chan Result[string], 1)
	asked.Go(func() {
		got, err := b.GetShared(t.Context(), named("key"), constant("value", hour))
		if err != nil {
			t.Error(err)
		}
		waiting <- got
	})
	must.Await(t, "the other to wait", func() bool { return onServer(t, a, "HEXISTS", nameOf("lock", named("key")), "awaited") == 1 })
	close(end)
	wantResult(t, "the other", <-waiting, "value", Miss, false)
	asked.Wait()
}

// TestLocksAreReleasedWhenValuesAreNotAskedFor lets calls fail until values are no longer requested, and then releases
// a lock, which would not end otherwise.
func TestLocksAreReleasedWhenValuesAreNotAskedFor(t *testing.T) {
	server := redistest.Serve(t)
	a := startReplica(t, server.URL(), func(_ *Options[string], on *shared.Options) {
		on.Timeout, on.LockLife = 250*time.Millisecond, time.Hour
	}).connected(t)
	b := startReplica(t, server.URL()).connected(t)
	_, lock := a.shared.Claim(t.Context(), named("key"), shared.Stale, time.Second)
	if lock == nil {
		t.Fatal("no fill lock for a key that nobody has")
	}
	waiting := make(chan *shared.FillLock, 1)
	go func() {
		_, next := b.shared.Claim(t.Context(), named("key"), shared.Stale, 5*time.Second)
		waiting <- next
	}()
	must.Await(t, "the other to wait", func() bool { return onServer(t, a, "HEXISTS", nameOf("lock", named("key")), "awaited") == 1 })
	must.Do(t, server.Pause())
	must.Await(t, "no more calls to be made", func() bool {
		a.shared.TryClaim(t.Context(), named("another"), shared.Any)
		state, _ := a.shared.Status()
		return strings.Contains(state, "skipped")
	})
	must.Do(t, server.Continue())
	lock.Release(t.Context())
	if next := <-waiting; next == nil {
		t.Error("the other still waits for a lock that was released")
	}
}
