package cache

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"crossgate/internal/must"
	"crossgate/internal/redistest"
)

// tagged gives every value two tags: the text's first letter, and a common one.
func tagged(v string) []Key { return []Key{named("tag " + v[:1]), named("tag all")} }

func TestPurge(t *testing.T) {
	whole := Life{Fresh: time.Hour, Stale: time.Hour, IfError: time.Hour}
	for name, test := range map[string]struct {
		life Life
		how  Purge
		key  string
		want Outcome
	}{
		"by key":                       {whole, Hard, "key", Miss},
		"by tag":                       {whole, Hard, "tag v", Miss},
		"by the other tag":             {whole, Hard, "tag all", Miss},
		"of something else":            {whole, Hard, "tag w", Hit},
		"soft":                         {whole, Soft, "key", Stale},
		"soft by tag":                  {whole, Soft, "tag v", Stale},
		"soft of what is never stale":  {Life{Fresh: time.Hour}, Soft, "key", Miss},
		"soft, kept for failures only": {Life{Fresh: time.Hour, IfError: time.Hour}, Soft, "key", Miss},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := open(t, Options[string]{Tags: tagged})
				load := counted(new(atomic.Int64), test.life)
				want(t, c, load, "value 1", Miss, 0)
				synctest.Wait()
				c.Purge(test.how, named(test.key))
				value := map[bool]string{true: "value 2", false: "value 1"}[test.want == Miss]
				want(t, c, load, value, test.want, 0)
				synctest.Wait()
				again := map[bool]string{true: "value 1", false: "value 2"}[test.want == Hit]
				want(t, c, load, again, Hit, 0)
			})
		})
	}
}

// TestPurgeReachesWhatIsBeingLoaded purges after a load has read its value and before it ends.
func TestPurgeReachesWhatIsBeingLoaded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, Options[string]{Tags: tagged})
		var state atomic.Int64
		slow := func(context.Context) (string, Life, error) {
			read := fmt.Sprint("value ", state.Load())
			<-time.After(time.Second)
			return read, Life{Fresh: time.Hour}, nil
		}
		go func() { _, _ = c.Get(t.Context(), named("key"), slow) }()
		synctest.Wait()
		state.Store(1)
		c.Purge(Hard, named("tag v"))
		want(t, c, slow, "value 1", Miss, 0) // does not join the load under way
		synctest.Wait()
		want(t, c, slow, "value 1", Hit, 0)
	})
}

// TestForgottenPurgesHold makes more purges than are remembered.
func TestForgottenPurgesHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, Options[string]{})
		load := counted(new(atomic.Int64), Life{Fresh: time.Hour})
		want(t, c, load, "value 1", Miss, 0)
		synctest.Wait()
		c.Purge(Hard, named("key"))
		for i := range mostPurges {
			c.Purge(Soft, named(fmt.Sprint("another ", i)))
		}
		want(t, c, load, "value 2", Miss, 0)
		if remembered := len(c.purges.last); remembered > mostPurges {
			t.Errorf("%d purges are remembered, want %d at most", remembered, mostPurges)
		}
	})
}

// TestKeysAreInjective draws two different sequences of fields, whose concatenations may be equal.
func TestKeysAreInjective(t *testing.T) {
	fields := rapid.SliceOfN(rapid.SliceOfN(rapid.ByteRange('a', 'c'), 0, 4), 0, 4)
	rapid.Check(t, func(t *rapid.T) {
		a, b := fields.Draw(t, "a"), fields.Draw(t, "b")
		same := fmt.Sprintf("%q", a) == fmt.Sprintf("%q", b)
		if got := KeyOf("", a...) == KeyOf("", b...); got != same {
			t.Errorf("the keys of %q and %q are equal: %v, want %v", a, b, got, same)
		}
	})
}

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
		must.Await(t, "the purge to arrive", b.gone)
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
		must.Await(t, "the key to be free again", func() bool { return b.gone() && a.hasPublished(named("key")) })
	}
}

// hasPublished reports whether every purge of a key was published to the server.
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

// TestPurgesBeatWhatWasLoadedBefore lets one replica load while the other one purges: the value read before is never
// found afterwards.
func TestPurgesBeatWhatWasLoadedBefore(t *testing.T) {
	for name, by := range map[string]Key{"by key": named("key"), "by tag": named("tag o")} {
		t.Run(name, func(t *testing.T) {
			a, b := startReplicas(t, redistest.Serve(t).URL())
			// Does not receive purges itself, so that only the server can reject its value.
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
			must.Await(t, "the server to hear of it", func() bool { return a.hasPublished(by) })
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
	onServer(t, a, "DEL", "{crossgate:5}:state")
	c := startReplica(t, server.URL()).connected(t)
	wantResult(t, "without the state", c.ask(t, constant("value 3", hour)), "value 3", Miss, false)
	must.Do(t, server.Flush())
	d := startReplica(t, server.URL()).connected(t)
	wantResult(t, "without anything", d.ask(t, constant("value 4", hour)), "value 4", Miss, false)
	wantResult(t, "after that", startReplica(t, server.URL()).connected(t).ask(t, unloaded(t)), "value 4", Hit, true)
}

// TestValuesThatNoLongerHoldAreNotServed invalidates a cached value at each stage of its life, and one that is being
// loaded, for callers that come afterwards.
func TestValuesThatNoLongerHoldAreNotServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var gone sync.Map
		c := open(t, Options[string]{Holds: func(v string) bool { _, is := gone.Load(v); return !is }})
		var loads atomic.Int64
		load := counted(&loads, Life{Fresh: time.Second, Stale: time.Second, IfError: time.Hour})
		for i, age := range []time.Duration{0, time.Second, 2 * time.Second} {
			value := fmt.Sprint("value ", i+1)
			want(t, c, load, value, Miss, 0)
			synctest.Wait()
			<-time.After(age)
			gone.Store(value, true)
		}
		failing := func(context.Context) (string, Life, error) { return "", Life{}, errBroken }
		if got, err := c.Get(t.Context(), named("key"), failing); !errors.Is(err, errBroken) {
			t.Errorf("Get = %+v, %v, want the error of the load", got, err)
		}
		held := make(chan struct{})
		slow := func(ctx context.Context) (string, Life, error) {
			<-held
			return load(ctx)
		}
		first := make(chan string, 1)
		go func() {
			got, _ := c.Get(t.Context(), named("key"), slow)
			first <- got.Value
		}()
		synctest.Wait()
		gone.Store("value 4", true)
		var later sync.WaitGroup
		for range 10 {
			later.Go(func() {
				if got, err := c.Get(t.Context(), named("key"), slow); err != nil || got.Value != "value 5" {
					t.Errorf("Get of one who came later = %+v, %v, want value 5", got, err)
				}
			})
		}
		synctest.Wait()
		close(held)
		later.Wait()
		if got := <-first; got != "value 4" || loads.Load() != 5 {
			t.Errorf("who came first got %q, and %d loads ran; want value 4 and 5 loads", got, loads.Load())
		}
	})
}

// TestAnOlderValueDoesNotReplaceANewerOne stores a value after one that was loaded later, as a fill does that was
// replaced because its value no longer held.
func TestAnOlderValueDoesNotReplaceANewerOne(t *testing.T) {
	c := open(t, Options[string]{})
	now := time.Now()
	for _, value := range []struct {
		text   string
		loaded time.Time
	}{{"newer", now}, {"older", now.Add(-time.Microsecond)}} {
		c.keep(entry[string]{key: named("key"), value: value.text, life: Life{Fresh: time.Hour}, loaded: value.loaded})
	}
	if kept, found := c.Hit(named("key")); !found || kept.Value != "newer" {
		t.Errorf("%+v is kept, want the newer value", kept)
	}
}
