package upstream_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/upstream"
)

// TestBackgroundCallsNeverMakeOthersWait keeps an endpoint busy with calls in the background.
func TestBackgroundCallsNeverMakeOthersWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := endpoint(t, "node", always(200, "{}"), upstream.EndpointOptions{RequestsPerSecond: 10, Burst: 10})
		ctx, stop := context.WithCancel(t.Context())
		var following sync.WaitGroup
		var calls atomic.Int64
		following.Go(func() {
			for ctx.Err() == nil {
				if _, err := e.Do(upstream.InBackground(ctx), upstream.Request{Cost: 2}); err == nil {
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
				if _, err := e.Do(t.Context(), upstream.Request{}); err != nil {
					t.Fatal(err)
				}
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
		e := endpoint(t, "node", always(200, "{}"), upstream.EndpointOptions{RequestsPerSecond: 1, Burst: 4})
		if _, err := e.Do(t.Context(), upstream.Request{Cost: 4}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		if _, err := e.Do(upstream.InBackground(ctx), upstream.Request{}); err == nil || time.Since(begun) > 0 {
			t.Errorf("Do() = %v after %v, want a refusal at once", err, time.Since(begun))
		}
	})
}
