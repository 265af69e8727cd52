package upstream_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/internal/must"
	"crossgate/internal/pooltest"
	"crossgate/upstream"
)

// TestBackgroundCallsNeverMakeOthersWait keeps an endpoint busy with background calls.
func TestBackgroundCallsNeverMakeOthersWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := pooltest.Endpoint(t, "node", pooltest.Always(200, "{}"), upstream.EndpointOptions{RequestsPerSecond: 10, Burst: 10})
		ctx, stop := context.WithCancel(t.Context())
		var following sync.WaitGroup
		var calls atomic.Int64
		following.Go(func() {
			for ctx.Err() == nil {
				if _, err := e.Do(upstream.Background.For(ctx), upstream.Request{Cost: 2}); err == nil {
					calls.Add(1)
				}
			}
		})
		<-time.After(10 * time.Second)
		done := calls.Load()
		if want := int64(100+10/2) / 2; done < want-1 || done > want+1 {
			t.Errorf("in 10 s %d calls of cost 2 were made in the background, want the whole rate: %d", done, want)
		}
		for round := range 20 {
			begun := time.Now()
			for range 3 {
				must.Get(e.Do(t.Context(), upstream.Request{}))(t)
			}
			if waited := time.Since(begun); waited > 0 {
				t.Errorf("round %d: a lookup waited %v for the background", round, waited)
			}
			<-time.After(300 * time.Millisecond)
		}
		before := calls.Load()
		<-time.After(10 * time.Second)
		if after := calls.Load(); after-before < 40 {
			t.Errorf("when the lookups were over, %d calls were made in 10 s", after-before)
		}
		stop()
		following.Wait()
	})
}

func TestBackgroundCallsGiveUpWithTheirDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := pooltest.Endpoint(t, "node", pooltest.Always(200, "{}"), upstream.EndpointOptions{RequestsPerSecond: 1, Burst: 4})
		must.Get(e.Do(t.Context(), upstream.Request{Cost: 4}))(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		if _, err := e.Do(upstream.Background.For(ctx), upstream.Request{}); err == nil || time.Since(begun) > 0 {
			t.Errorf("Do() = %v after %v, want a refusal at once", err, time.Since(begun))
		}
	})
}

// TestFollowingKeepsItsShare lets callers take all they can of an endpoint, without pausing, while a chain is followed
// through it.
func TestFollowingKeepsItsShare(t *testing.T) {
	for _, burst := range []int{1, 10} {
		synctest.Test(t, func(t *testing.T) {
			const perSecond, lasts = 10, 10 * time.Second
			var sent atomic.Int64
			e := pooltest.Endpoint(t, "node", func(*http.Request) (*http.Response, error) {
				sent.Add(1)
				return pooltest.Answer(200, "{}"), nil
			}, upstream.EndpointOptions{RequestsPerSecond: perSecond, Burst: burst})
			ctx, stop := context.WithTimeout(t.Context(), lasts)
			defer stop()
			following := upstream.Following.For(ctx)
			var callers sync.WaitGroup
			look := func() {
				began := time.Now()
				if _, err := e.Do(following, upstream.Request{}); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
				if waited := time.Since(began); waited > time.Second {
					t.Errorf("burst %d: a look at the chain waited %v", burst, waited)
				}
			}
			look()
			for range 20 {
				callers.Go(func() {
					for ctx.Err() == nil {
						if _, err := e.Do(ctx, upstream.Request{}); err != nil {
							time.Sleep(5 * time.Millisecond) // retries at short intervals
						}
					}
				})
			}
			for ctx.Err() == nil {
				look()
				time.Sleep(500 * time.Millisecond)
			}
			callers.Wait()
			if most := int64(perSecond*lasts.Seconds()) + int64(burst); sent.Load() > most || sent.Load() < most*8/10 {
				t.Errorf("burst %d: %d calls in %v, want most of %d and no more", burst, sent.Load(), lasts, most)
			}
		})
	}
}

// TestSearchesHaveASmallShare floods endpoints with searches: none waits, few are admitted, each refused one gets a
// time to retry after, and callers do not notice.
func TestSearchesHaveASmallShare(t *testing.T) {
	for name, options := range map[string]upstream.EndpointOptions{
		"a rate":          {RequestsPerSecond: 10, Burst: 10},
		"a rate in units": {RequestsPerSecond: 200, Burst: 200, Units: 20},
		"a plan":          {Monthly: 10 * 32 * 24 * 3600},
		"a smaller plan":  {RequestsPerSecond: 1000, Burst: 1000, Monthly: 10 * 32 * 24 * 3600},
	} {
		synctest.Test(t, func(t *testing.T) {
			e, start := pooltest.Endpoint(t, "node", pooltest.Always(200, "{}"), options), time.Now()
			search, done := upstream.Searching.For(t.Context()), 0
			var refused *upstream.Error
			for i := range 6000 { // for a minute
				_, err := e.Do(search, upstream.Request{})
				if err == nil {
					done++
				} else if !errors.As(err, &refused) || refused.Class != upstream.RateLimited || refused.RetryAfter <= 0 || refused.RetryAfter > time.Second {
					t.Fatalf("%s: Do() = %v, want a refusal that says when to retry", name, err)
				}
				began := time.Now()
				if i%100 == 0 {
					if _, err := e.Do(t.Context(), upstream.Request{}); err != nil || time.Since(began) > 0 {
						t.Errorf("%s: beside searches a caller got %v after %v", name, err, time.Since(began))
					}
				}
				time.Sleep(10 * time.Millisecond)
			}
			if took := time.Since(start); took != time.Minute || done < 55 || done > 70 {
				t.Errorf("%s: %d searches in %v, none of which waits; want a tenth of ten a second", name, done, took)
			}
		})
	}
}

// TestRefusalsTakeNoShare refuses work for lack of the overall rate, on a real clock, so that time passes between
// taking from a share and the refusal. Each refusal gives the time at which the overall rate has a unit, not the later
// one at which the share has one.
func TestRefusalsTakeNoShare(t *testing.T) {
	const perSecond, soon = 0.01, 110 * time.Second
	hurried, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	e := pooltest.Endpoint(t, "node", pooltest.Always(200, "{}"), upstream.EndpointOptions{RequestsPerSecond: perSecond, Burst: 1})
	must.Get(e.Do(upstream.Following.For(hurried), upstream.Request{}))(t)
	for _, work := range []upstream.Work{upstream.Searching, upstream.Answering} {
		for range 3 {
			var refused *upstream.Error
			if _, err := e.Do(work.For(hurried), upstream.Request{}); !errors.As(err, &refused) || refused.RetryAfter > soon {
				t.Errorf("work %d: Do() = %v, want a refusal for 100 s", work, err)
			}
		}
	}
}
