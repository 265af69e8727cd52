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
)

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
