package cache

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// tagged makes every value carry two tags: its text's first letter, and one for all.
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

// TestPurgeReachesWhatIsBeingLoaded purges between a load's reading and its landing.
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
		want(t, c, slow, "value 1", Miss, 0) // not the load under way
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

// TestKeysAreInjective draws two sequences of fields that differ; their texts may be the same when put together.
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

// TestPurgeOfEverythingIsNoBurstOfLoads ends many values at once, as a shared level does that may have missed purges. What
// is asked for meanwhile is served as it is, and loaded again with few others at a time.
func TestPurgeOfEverythingIsNoBurstOfLoads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const keys = 100
		c := open(t, Options[string]{})
		var under, most, loads atomic.Int64
		load := func(context.Context) (string, Life, error) {
			loads.Add(1)
			if many := under.Add(1); many > most.Load() {
				most.Store(many)
			}
			<-time.After(10 * time.Millisecond)
			under.Add(-1)
			return "value", Life{Fresh: time.Hour, Stale: time.Hour}, nil
		}
		askAll := func() (stale int) {
			for i := range keys {
				got, err := c.Get(t.Context(), named(fmt.Sprint(i)), load)
				if err != nil {
					t.Fatal(err)
				}
				if got.Outcome == Stale {
					stale++
				}
			}
			synctest.Wait()
			return stale
		}
		askAll()
		c.purged(Soft)
		most.Store(0)
		loads.Store(0)
		if stale := askAll(); stale != keys {
			t.Errorf("%d of %d values are served as they are, want all", stale, keys)
		}
		if got := most.Load(); got != int64(revalidationSlots()) {
			t.Errorf("%d values are loaded at a time, want %d", got, revalidationSlots())
		}
		c.Purge(Soft, named("99")) // which is about this one
		askAll()
		if got := under.Load(); got != int64(revalidationSlots())+1 {
			t.Errorf("%d values are loaded at a time after one of them was purged, want one more than %d", got, revalidationSlots())
		}
		for range 2 * keys {
			<-time.After(25 * time.Millisecond) // a load and a rest
			askAll()
		}
		if stale := askAll(); stale != 0 || loads.Load() != keys {
			t.Errorf("%d values are old after a while, and %d were loaded, want each once", stale, loads.Load())
		}
	})
}
