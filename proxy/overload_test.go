package proxy_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// TestKeptAnswersAreServedWhileProcessorsAreBusy has loads wait for a processor for longer than they may: each API
// declines them in its own words within 100 ms, the next ones at once, and serves kept answers without a wait.
func TestKeptAnswersAreServedWhileProcessorsAreBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWorld(t).server(t)
		kept, loaded := ordersPath+createdTx, "/v1.0/dln/tx/"+createdTx+"/order-ids"
		if got := get(s, kept); got.StatusCode != http.StatusOK {
			t.Fatalf("HTTP %d", got.StatusCode)
		}
		s.Queue(50*time.Millisecond, 0)
		for range 3 {
			for path, code := range map[string]int{
				"/api/Transaction/" + createdTx + "/orderIds": http.StatusServiceUnavailable,
				"/v1.0/dln/order/" + idText(7) + "/status":    1308,
				loaded: 1308,
			} {
				began := time.Now()
				response := get(s, path)
				took := time.Since(began)
				e := wantError(t, response, http.StatusServiceUnavailable, "OVERLOADED")
				if e.ErrorCode != code || response.Header.Get("Retry-After") != "1" || took > 100*time.Millisecond {
					t.Errorf("%s: %+v after %v, Retry-After %q", path, e, took, response.Header.Get("Retry-After"))
				}
				began = time.Now()
				if again := get(s, path).StatusCode; again != http.StatusServiceUnavailable || time.Since(began) > 0 {
					t.Errorf("%s again: HTTP %d after %v", path, again, time.Since(began))
				}
				if got := get(s, kept).StatusCode; got != http.StatusOK || time.Since(began) > 0 {
					t.Errorf("a kept answer: HTTP %d after %v", got, time.Since(began))
				}
			}
			time.Sleep(100 * time.Millisecond)
		}
		s.Queue(time.Second, 1)
		if got := get(s, loaded); got.StatusCode != http.StatusOK {
			t.Errorf("the first of a few: HTTP %d", got.StatusCode)
		}
	})
}
