package proxy

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/proxy/web"
)

// TestTrafficIsOfTheLastMinute counts requests for two minutes, of which the second has fewer and the failures.
func TestTrafficIsOfTheLastMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var counted traffic
		many := func(n, status int) {
			for range 60 {
				time.Sleep(time.Second)
				for range n {
					counted.count(time.Now(), status, time.Millisecond)
				}
			}
		}
		many(4, http.StatusOK)
		if got, want := counted.at(time.Now()), (web.Traffic{PerSecond: 4, Requests: 240}); got != want {
			t.Errorf("after a minute: %+v, want %+v", got, want)
		}
		many(1, http.StatusBadGateway)
		counted.count(time.Now(), http.StatusNotFound, time.Minute)
		counted.count(time.Now(), clientLeft.Status, longestWait)
		counted.count(time.Now(), clientLeft.Status, 1700*time.Millisecond) // a balancer's time
		want := web.Traffic{PerSecond: 63. / 60, Failing: 61. / 63, Requests: 303, ClientErrors: 2, ServerErrors: 61}
		if got := counted.at(time.Now()); got != want {
			t.Errorf("after two minutes: %+v, want %+v", got, want)
		}
		time.Sleep(time.Hour)
		if got := counted.at(time.Now()); got.PerSecond != 0 || got.Failing != 0 || got.Requests != 303 {
			t.Errorf("an hour later: %+v", got)
		}
	})
}
