package proxy

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// TestOverloadDeclinesWhatHasToBeMade has processors busy for longer than what is to be made may wait: each API
// declines that in its own words and within 100 ms, those who come next at once, and what is kept is served by all the
// same.
func TestOverloadDeclinesWhatHasToBeMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWorld(t).server(t)
		kept, queue := ordersPath+createdTx, time.Duration(0)
		s.turn.yield = func() { time.Sleep(queue) }
		if got := get(s, kept); got.StatusCode != http.StatusOK {
			t.Fatalf("HTTP %d", got.StatusCode)
		}
		queue, s.turn.few = 2*longestQueue, 0
		for round := range 3 {
			for path, code := range map[string]int{
				"/api/Transaction/" + createdTx + "/orderIds": http.StatusServiceUnavailable,
				"/v1.0/dln/order/" + idText(7) + "/status":    overloaded.code,
				"/v1.0/dln/tx/" + createdTx + "/order-ids":    overloaded.code,
			} {
				began := time.Now()
				response := get(s, path)
				took := time.Since(began)
				e := wantError(t, response, http.StatusServiceUnavailable, overloaded.id)
				if e.ErrorCode != code || response.Header.Get("Retry-After") != "1" || took > 100*time.Millisecond {
					t.Errorf("%s: %+v after %v, Retry-After %q", path, e, took, response.Header.Get("Retry-After"))
				}
				if again := time.Now(); get(s, path).StatusCode != http.StatusServiceUnavailable || time.Since(again) > 0 {
					t.Errorf("round %d, %s: tried again after %v", round, path, time.Since(again))
				}
				if began := time.Now(); get(s, kept).StatusCode != http.StatusOK || time.Since(began) > 0 {
					t.Errorf("what is kept took %v", time.Since(began))
				}
			}
			time.Sleep(longestClose)
		}
		s.turn.few = 1
		if got := get(s, "/v1.0/dln/tx/"+createdTx+"/order-ids"); got.StatusCode != http.StatusOK {
			t.Errorf("HTTP %d of the first of a few", got.StatusCode)
		}
	})
}
