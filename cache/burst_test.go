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

	"crossgate/internal/must"
)

// TestBurstOfNewKeysIsKept loads more keys at once than ristretto's queue of new ones can hold.
func TestBurstOfNewKeysIsKept(t *testing.T) {
	const keys, workers = 35_000, 16
	c := open(t, Options[string]{MaxBytes: 64 << 20})
	load := func(context.Context) (string, Life, error) { return "value", Life{Fresh: time.Hour}, nil }
	var working sync.WaitGroup
	for worker := range workers {
		working.Go(func() {
			for i := worker; i < keys; i += workers {
				if _, err := c.Get(t.Context(), named(fmt.Sprint(i)), load); err != nil {
					t.Error(err)
				}
			}
		})
	}
	working.Wait()
	c.Close() // returns once the last value is stored
	if got := c.Stats(); got.Dropped > 0 || got.Loads != keys {
		t.Errorf("Stats() = %+v, want %d loads and nothing dropped", got, keys)
	}
}

// TestValuesWithoutRoomAreCounted loads values that are each larger than the cache.
func TestValuesWithoutRoomAreCounted(t *testing.T) {
	const maxBytes, keys = 1 << 20, 5
	c := open(t, Options[string]{MaxBytes: maxBytes, Cost: func(string) int64 { return maxBytes }})
	load := func(context.Context) (string, Life, error) { return "value", Life{Fresh: time.Hour}, nil }
	for i := range keys {
		must.Get(c.Get(t.Context(), named(fmt.Sprint(i)), load))(t)
	}
	c.Close() // returns once the last value is stored or rejected
	if got := c.Stats(); got.Dropped != keys {
		t.Errorf("Stats() = %+v, want %d values dropped", got, keys)
	}
}

func TestMoreLoadsThanMayRunAreDeclined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, Options[string]{MaxLoads: 2})
		life := Life{Fresh: time.Second, IfError: time.Hour}
		want(t, c, counted(new(atomic.Int64), life), "value 1", Miss, 0)
		synctest.Wait()
		slow := func(context.Context) (string, Life, error) {
			<-time.After(10 * time.Second)
			return "slow", Life{}, nil
		}
		for i := range 2 {
			go func() { _, _ = c.Get(t.Context(), named(fmt.Sprint("slow ", i)), slow) }()
		}
		synctest.Wait()
		want(t, c, slow, "value 1", Hit, 0)
		if got, err := c.Get(t.Context(), named("another"), slow); !errors.Is(err, ErrBusy) {
			t.Errorf("a third load: %+v, %v, want %v", got, err, ErrBusy)
		}
		<-time.After(2 * time.Second)
		got, err := c.Get(t.Context(), named("key"), slow)
		if err != nil || got.Outcome != StaleIfError || !errors.Is(got.Failure, ErrBusy) {
			t.Errorf("a third load for a kept key: %+v, %v, want the old value", got, err)
		}
		if shed := c.Stats().Shed; shed != 2 {
			t.Errorf("%d loads are counted as shed, want 2", shed)
		}
	})
}

func TestHitAllocatesNothing(t *testing.T) {
	c := open(t, Options[string]{Tags: tagged})
	want(t, c, counted(new(atomic.Int64), Life{Fresh: time.Hour}), "value 1", Miss, 0)
	c.running.Wait()
	if allocations := testing.AllocsPerRun(100, func() {
		if _, found := c.Hit(KeyOf("key")); !found {
			t.Error("no hit")
		}
	}); allocations > 0 {
		t.Errorf("a hit makes %v allocations, want none", allocations)
	}
}
