package cache

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"pgregory.net/rapid"

	"crossgate/internal/must"
	"crossgate/internal/redistest"
)

var errBroken = errors.New("broken")

// open returns a cache that is closed at the end of the test, within the test's bubble.
func open(t *testing.T, o Options[string]) *Cache[string] {
	t.Helper()
	c := must.Get(New(o))(t)
	t.Cleanup(c.Close)
	return c
}

// named returns the key for a text.
func named(text string) Key { return KeyOf(text) }

// counted returns a load that returns "value 1", "value 2" and so on.
func counted(loads *atomic.Int64, life Life) Load[string] {
	return func(context.Context) (string, Life, error) {
		return fmt.Sprint("value ", loads.Add(1)), life, nil
	}
}

func want(t *testing.T, c *Cache[string], load Load[string], value string, outcome Outcome, age time.Duration) {
	t.Helper()
	got, err := c.Get(t.Context(), named("key"), load)
	if err != nil || got.Value != value || got.Outcome != outcome || got.Age != age {
		t.Fatalf("Get = %+v, %v, want %s as %v of age %v", got, err, value, outcome, age)
	}
}

// TestOldValuesAreNotHeldBackForLong reads a value past its freshness while loading it takes 5 s.
func TestOldValuesAreNotHeldBackForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, Options[string]{})
		want(t, c, counted(new(atomic.Int64), Life{Fresh: time.Second, IfError: time.Minute}), "value 1", Miss, 0)
		<-time.After(time.Second)
		began := time.Now()
		slow := func(context.Context) (string, Life, error) {
			<-time.After(5 * time.Second)
			return "value 2", Life{Fresh: time.Hour}, nil
		}
		for _, waits := range []time.Duration{lateAfter, 0} { // by the second one the load is already late
			asked := time.Now()
			got, err := c.Get(t.Context(), named("key"), slow)
			if err != nil || got.Value != "value 1" || got.Outcome != StaleIfError || got.Failure != nil || time.Since(asked) != waits {
				t.Errorf("Get = %+v, %v after %v, want the old value after %v", got, err, time.Since(asked), waits)
			}
		}
		<-time.After(time.Until(began.Add(5 * time.Second)))
		synctest.Wait()
		want(t, c, slow, "value 2", Hit, 0)
		if got := c.Stats(); got.Failed != 0 || got.StaleIfErrors != 2 || got.Loads != 2 {
			t.Errorf("Stats = %+v, want two old values and no failure", got)
		}
	})
}

func TestZeroLifeIsNotKept(t *testing.T) {
	c := open(t, Options[string]{})
	var loads atomic.Int64
	for i := range 10_000 { // a call must not get the value that the previous one loaded
		want(t, c, counted(&loads, Life{}), fmt.Sprint("value ", i+1), Miss, 0)
	}
}

func TestLoadHasALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, Options[string]{LoadLimit: 3 * time.Second})
		began := time.Now()
		_, err := c.Get(t.Context(), named("key"), func(ctx context.Context) (string, Life, error) {
			<-ctx.Done()
			return "", Life{}, ctx.Err()
		})
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took != 3*time.Second {
			t.Errorf("Get = %v after %v, want a deadline after 3s", err, took)
		}
	})
}

func TestPanicAndExitReachEverybodyWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, Options[string]{})
		for name, load := range map[string]Load[string]{
			"panic": func(context.Context) (string, Life, error) { <-time.After(time.Second); panic("boom") },
			"exit": func(context.Context) (string, Life, error) {
				<-time.After(time.Second)
				runtime.Goexit()
				return "", Life{}, nil
			},
		} {
			var callers sync.WaitGroup
			for range 3 {
				callers.Go(func() {
					_, err := c.Get(t.Context(), named(name), load)
					if err == nil || strings.HasPrefix(err.Error(), "load panicked: boom") != (name == "panic") {
						t.Errorf("Get of a load that ends in %s = %v", name, err)
					}
				})
			}
			callers.Wait()
		}
		var loads atomic.Int64
		want(t, c, counted(&loads, Life{}), "value 1", Miss, 0)
	})
}

func TestStaleKeyIsLoadedOnceAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, Options[string]{})
		var loads atomic.Int64
		life := Life{Fresh: time.Second, Stale: time.Minute}
		want(t, c, counted(&loads, life), "value 1", Miss, 0)
		<-time.After(2 * time.Second)
		slow := func(ctx context.Context) (string, Life, error) {
			<-time.After(time.Second)
			return counted(&loads, life)(ctx)
		}
		for range 50 {
			want(t, c, slow, "value 1", Stale, 2*time.Second)
		}
		<-time.After(time.Second)
		synctest.Wait()
		want(t, c, slow, "value 2", Hit, 0)
	})
}

func TestClosedCache(t *testing.T) {
	c := must.Get(New(Options[string]{}))(t)
	c.Close()
	c.Close()
	if _, err := c.Get(t.Context(), named("key"), counted(new(atomic.Int64), Life{})); !errors.Is(err, ErrClosed) {
		t.Errorf("Get of a closed cache = %v, want %v", err, ErrClosed)
	}
}

// TestPressureNeverGivesAnotherKeysValue fills a far too small cache from many goroutines: whatever is dropped or
// evicted meanwhile, each caller gets the value of its own key.
func TestPressureNeverGivesAnotherKeysValue(t *testing.T) {
	c := open(t, Options[string]{MaxBytes: 64 << 10, Cost: func(v string) int64 { return int64(len(v)) }})
	var callers sync.WaitGroup
	for worker := range 8 {
		callers.Go(func() {
			for i := range 2000 {
				key := fmt.Sprint((worker*31 + i*7) % 3000)
				got, err := c.Get(t.Context(), named(key), func(context.Context) (string, Life, error) {
					return "value of " + key, Life{Fresh: time.Hour}, nil
				})
				if err != nil || got.Value != "value of "+key {
					t.Errorf("Get(%s) = %+v, %v", key, got, err)
					return
				}
			}
		})
	}
	callers.Wait()
}

// TestGetFollowsItsModel runs random sequences of calls, failures and waits, and compares the results with those of a
// map with timestamps.
func TestGetFollowsItsModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		life := Life{
			Fresh: time.Duration(rapid.IntRange(0, 3).Draw(rt, "fresh")) * time.Second,
			Stale: time.Duration(rapid.IntRange(0, 3).Draw(rt, "stale")) * time.Second,
		}
		waits := rapid.SliceOfN(rapid.IntRange(0, 4), 1, 12).Draw(rt, "waits")
		fails := rapid.SliceOfN(rapid.Bool(), len(waits), len(waits)).Draw(rt, "fails")
		// A failure of rt must not leave the bubble as a panic.
		var differs error
		synctest.Test(t, func(t *testing.T) { differs = playModel(t, life, waits, fails) })
		if differs != nil {
			rt.Fatal(differs)
		}
	})
}

func playModel(t *testing.T, life Life, waits []int, fails []bool) error {
	c := open(t, Options[string]{})
	// Avoids ristretto's sweeps, which may drop an entry that is replaced at the same instant.
	<-time.After(100 * time.Millisecond)
	held, heldAt, failedAt, loads := "", time.Time{}, time.Time{}, 0
	for i, wait := range waits {
		<-time.After(time.Duration(wait) * time.Second)
		load := func(context.Context) (string, Life, error) {
			if fails[i] {
				return "", Life{}, errBroken
			}
			loads++
			return fmt.Sprint(loads), life, nil
		}
		outcome, age := Miss, time.Since(heldAt)
		if held != "" {
			outcome = life.at(age)
		}
		got, err := c.Get(t.Context(), named("key"), load)
		synctest.Wait()
		next := fmt.Sprint(loads)
		switch {
		case outcome == Miss && fails[i]:
			if !errors.Is(err, errBroken) {
				return fmt.Errorf("step %d: Get = %+v, %v, want an error", i, got, err)
			}
			continue
		case outcome == Miss:
			held, heldAt, failedAt = next, time.Now(), time.Time{}
		}
		if err != nil || got.Outcome != outcome || got.Value != held {
			return fmt.Errorf("step %d: Get = %+v, %v, want %s as %v", i, got, err, held, outcome)
		}
		switch {
		case outcome != Stale || time.Since(failedAt) < retryDelay:
		case fails[i]:
			failedAt = time.Now()
		default:
			held, heldAt, failedAt = next, time.Now(), time.Time{}
		}
		if life.whole() == 0 {
			held = ""
		}
	}
	return nil
}

func TestKeptValues(t *testing.T) {
	life := Life{Fresh: time.Minute, Stale: time.Minute}
	for name, c := range map[string]struct {
		between, after func(*Cache[string]) // run between load and keep, and after the value was kept
		found, purged  bool
	}{
		"kept":                       {found: true},
		"until the end of its life":  {after: func(*Cache[string]) { time.Sleep(2 * time.Minute) }},
		"not after a purge":          {after: func(c *Cache[string]) { c.Purge(Hard, named("key")) }},
		"nor of its tag":             {after: func(c *Cache[string]) { c.Purge(Hard, named("tag v")) }},
		"purged softly":              {after: func(c *Cache[string]) { c.Purge(Soft, named("tag v")) }, found: true, purged: true},
		"purged while it was loaded": {between: func(c *Cache[string]) { c.Purge(Hard, named("key")) }},
		"softly while it was loaded": {between: func(c *Cache[string]) { c.Purge(Soft, named("key")) }, found: true, purged: true},
		"another one was purged":     {after: func(c *Cache[string]) { c.Purge(Hard, named("other")) }, found: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cache := open(t, Options[string]{Tags: tagged})
				mark := cache.Mark()
				if c.between != nil {
					c.between(cache)
				}
				cache.Keep(mark, named("key"), "value", life)
				if c.after != nil {
					c.after(cache)
				}
				value, purged, found := cache.Find(named("key"))
				if found != c.found || purged != c.purged || found && value != "value" {
					t.Errorf("%q, purged %t, found %t", value, purged, found)
				}
			})
		})
	}
}

// TestWhatWasLoadedBeforeAPurgeDoesNotReplaceWhatWasLoadedAfter keeps two values in the wrong order.
func TestWhatWasLoadedBeforeAPurgeDoesNotReplaceWhatWasLoadedAfter(t *testing.T) {
	c := open(t, Options[string]{Tags: tagged})
	early := c.Mark()
	c.Purge(Hard, named("key"))
	c.Keep(c.Mark(), named("key"), "value after", Life{Fresh: time.Hour})
	c.Keep(early, named("key"), "value before", Life{Fresh: time.Hour})
	if value, _, found := c.Find(named("key")); !found || value != "value after" {
		t.Errorf("%q, %t", value, found)
	}
}

// TestCallsOfTracedRequestsHaveSpans loads once with a trace and once without.
func TestCallsOfTracedRequestsHaveSpans(t *testing.T) {
	r := startReplica(t, redistest.Serve(t).URL()).connected(t)
	recorder := tracetest.NewSpanRecorder()
	before := otel.GetTracerProvider()
	provider := trace.NewTracerProvider(trace.WithSpanProcessor(recorder))
	otel.SetTracerProvider(provider)
	t.Cleanup(func() { otel.SetTracerProvider(before) })

	r.ask(t, constant("value", Life{}))
	if ended := recorder.Ended(); len(ended) > 0 {
		t.Errorf("a request that is not traced has the span %s", ended[0].Name())
	}
	ctx, span := provider.Tracer("test").Start(context.Background(), "request")
	must.Get(r.GetShared(ctx, named("key"), constant("value", hour)))(t)
	r.settle()
	var names []string
	for _, each := range recorder.Ended() {
		names = append(names, each.Name())
		if each.SpanContext().TraceID() != span.SpanContext().TraceID() {
			t.Errorf("%s is of another trace", each.Name())
		}
	}
	if len(names) != 2 || names[0] != "EVALSHA take" || names[1] != "EVALSHA put" {
		t.Errorf("the spans are %v, want one to take and one to put", names)
	}
}
