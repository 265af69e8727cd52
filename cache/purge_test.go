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
