package cache

import (
	"context"
	"fmt"
	"testing"
	"time"

	"crossgate/internal/must"
	"crossgate/internal/redistest"
)

// gone reports whether a replica has no fresh value for "key".
func (r *replica) gone() bool {
	_, hit := r.Hit(named("key"))
	return !hit
}

func TestPurgesReachTheOtherReplica(t *testing.T) {
	a, b := startReplicas(t, redistest.Serve(t).URL())
	for name, test := range map[string]struct {
		purge func()
		want  Outcome
	}{
		"hard, by key":  {func() { a.Purge(Hard, named("key")) }, Miss},
		"hard, by tag":  {func() { a.Purge(Hard, named("another"), named("tag v")) }, Miss},
		"soft, by tag":  {func() { a.Purge(Soft, named("tag v")) }, Stale},
		"more than fit": {func() { a.Purge(Hard, manyKeys()...) }, Miss},
	} {
		a.ask(t, constant("value", hour))
		b.ask(t, constant("value", hour))
		began := time.Now()
		test.purge()
		until(t, "the purge to arrive", b.gone)
		t.Logf("%s: %v", name, time.Since(began))
		got, err := b.GetShared(t.Context(), named("key"), constant("value again", hour))
		if err != nil || got.Outcome != test.want || got.Remote {
			t.Errorf("%s: %s, %v, want %v", name, describe(got), err, test.want)
		}
		b.settle()
		late := startReplica(t, a.url).connected(t)
		wantResult(t, name+": a third replica", late.ask(t, unloaded(t)), "value again", Hit, true)
		late.stop()
		a.Purge(Hard, named("key"))
		until(t, "the key to be free again", func() bool { return b.gone() && a.hasPublished(named("key")) })
	}
}

// hasPublished reports whether the server knows of every purge of a key.
func (r *replica) hasPublished(key Key) bool {
	_, purged := r.shared.Unpublished(key, nil)
	return !purged
}

func manyKeys() []Key {
	keys := make([]Key, mostPurges+1)
	for i := range keys {
		keys[i] = named(fmt.Sprint("many ", i))
	}
	return keys
}

// TestPurgesBeatWhatWasLoadedBefore has a replica load while the other one purges: what it read before must not be
// found by anybody afterwards.
func TestPurgesBeatWhatWasLoadedBefore(t *testing.T) {
	for name, by := range map[string]Key{"by key": named("key"), "by tag": named("tag o")} {
		t.Run(name, func(t *testing.T) {
			a, b := startReplicas(t, redistest.Serve(t).URL())
			// One that does not hear of purges by itself: only the server can stop what it puts.
			b.shared.OnPurge(func(Purge, ...Key) {})
			begun, end := make(chan struct{}), make(chan struct{})
			loading := make(chan Result[string], 1)
			go func() {
				got, err := b.GetShared(context.Background(), named("key"), func(context.Context) (string, Life, error) {
					close(begun)
					<-end
					return "old", hour, nil
				})
				if err != nil {
					t.Error(err)
				}
				loading <- got
			}()
			<-begun
			a.Purge(Hard, by)
			until(t, "the server to hear of it", func() bool { return a.hasPublished(by) })
			close(end)
			wantResult(t, "who asked before", <-loading, "old", Miss, false)
			b.settle()
			wantResult(t, "who asks afterwards", a.ask(t, constant("new", hour)), "new", Miss, false)
			wantResult(t, "a third", startReplica(t, a.url).connected(t).ask(t, unloaded(t)), "new", Hit, true)
		})
	}
}

func TestWhatTheServerForgetsIsPurged(t *testing.T) {
	server := redistest.Serve(t)
	a, b := startReplicas(t, server.URL())
	a.ask(t, constant("value", hour))
	onServer(t, a, "DEL", nameOf("mark", named("tag v")))
	wantResult(t, "without a mark", b.ask(t, constant("value 2", hour)), "value 2", Miss, false)
	onServer(t, a, "DEL", "{crossgate:4}:state")
	c := startReplica(t, server.URL()).connected(t)
	wantResult(t, "without the state", c.ask(t, constant("value 3", hour)), "value 3", Miss, false)
	must.Do(t, server.Flush())
	d := startReplica(t, server.URL()).connected(t)
	wantResult(t, "without anything", d.ask(t, constant("value 4", hour)), "value 4", Miss, false)
	wantResult(t, "after that", startReplica(t, server.URL()).connected(t).ask(t, unloaded(t)), "value 4", Hit, true)
}
