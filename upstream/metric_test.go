package upstream_test

import (
	"testing"
	"testing/synctest"

	"crossgate/internal/measured"
	"crossgate/internal/must"
	"crossgate/upstream"
)

// TestRequestsThatWaitForTheRateAreMeasured has three requests at an endpoint that takes one a second.
func TestRequestsThatWaitForTheRateAreMeasured(t *testing.T) {
	now := measured.Start(t)
	const ofLimited, ofFree = "crossgate.upstream.budget.waiting{crossgate.endpoint=limited,}", "crossgate.upstream.budget.waiting{crossgate.endpoint=free,}"
	synctest.Test(t, func(t *testing.T) {
		limited := endpoint(t, "limited", always(200, "{}"), upstream.EndpointOptions{RequestsPerSecond: 1, Burst: 1})
		free := endpoint(t, "free", always(200, "{}"), upstream.EndpointOptions{})
		defer upstream.Observe(limited, free)()
		done := make(chan error)
		for range 3 {
			go func() {
				_, err := limited.Do(t.Context(), upstream.Request{})
				done <- err
			}()
		}
		synctest.Wait()
		found := now()
		if _, known := found[ofFree]; known || found[ofLimited] != 2 {
			t.Errorf("%v requests wait, want 2 at the one endpoint that has a rate: %v", found[ofLimited], found)
		}
		for range 3 {
			must.Do(t, <-done)
		}
		if waiting, known := now()[ofLimited]; !known || waiting != 0 {
			t.Errorf("%v requests wait at the end, want none", waiting)
		}
	})
}
