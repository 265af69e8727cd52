package shared_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"crossgate/cache"
	"crossgate/cache/shared"
	"crossgate/internal/must"
	"crossgate/internal/redistest"
)

// start runs a cache before a shared one until the test ends, and returns when both are connected.
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

// TestPurgesHoldBeforeTheServerHearsOfThem has a purge wait while the server offers what it is about.
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
	// The load before may not have left yet.
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
