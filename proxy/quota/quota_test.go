package quota

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestQuotaIsNeverExceeded plays requests of one client at any times: within any window, no more is let through
// than twice the quota, and never more at once than the quota.
func TestQuotaIsNeverExceeded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		quota := Quota{Units: rapid.IntRange(10, 50).Draw(t, "units"), Window: 10 * time.Second}
		l := New(Options{Address: quota}, nil)
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		now, spent, waited := time.Unix(1_784_950_000, 0), 0, time.Duration(0)
		for range rapid.IntRange(1, 100).Draw(t, "requests") {
			pause := time.Duration(rapid.IntRange(0, 2000).Draw(t, "pause")) * time.Millisecond
			now, waited = now.Add(pause), waited+pause
			cost := rapid.SampledFrom([]int{1, 5, 10}).Draw(t, "cost")
			a, limited := l.Charge(r, cost, now)
			if !limited {
				t.Fatal("a client without a limit")
			}
			if a.RetryAfter == 0 {
				spent += cost
			} else if again, _ := l.Charge(r, cost, now.Add(a.RetryAfter)); again.RetryAfter > 0 {
				t.Fatalf("declined again for %v after the %v that it was told", again.RetryAfter, a.RetryAfter)
			} else {
				now, waited, spent = now.Add(a.RetryAfter), waited+a.RetryAfter, spent+cost
			}
			earned := float64(quota.Units) * (1 + waited.Seconds()/quota.Window.Seconds())
			if float64(spent) > earned+0.001 {
				t.Fatalf("%d units in %v of a quota of %d in %v", spent, waited, quota.Units, quota.Window)
			}
		}
	})
}

// TestNoLessThanNothingIsLeft has the quotas of a client become smaller while most of it is spent.
func TestNoLessThanNothingIsLeft(t *testing.T) {
	l, now := New(Options{Address: Quota{Units: 100, Window: time.Hour}}, nil), time.Unix(1_784_950_000, 0)
	r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
	l.Charge(r, 90, now)
	l.Replace(Options{Address: Quota{Units: 10, Window: time.Minute}})
	c, _ := l.Charge(r, 1, now)
	header := http.Header{}
	if c.WriteHeader(header); !strings.Contains(header["Ratelimit"][0], ";r=0;") || c.RetryAfter != 6*time.Second {
		t.Errorf("%s, to be retried after %v", header["Ratelimit"], c.RetryAfter)
	}
}

func TestMemoryIsBoundedHoweverManyClientsCome(t *testing.T) {
	l := New(Options{Address: Quota{Units: 10, Window: time.Hour}}, nil)
	r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
	for i := range 3 * maxClients {
		r.RemoteAddr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{1, byte(i >> 16), byte(i >> 8), byte(i)}), 1).String()
		l.Charge(r, 1, time.Unix(1_784_950_000, 0))
	}
	if known := len(l.young) + len(l.old); known > 2*maxClients {
		t.Errorf("%d clients are remembered, want %d at most", known, 2*maxClients)
	}
}
