package proxy_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/proxy/quota"
)

const walletKey = "wallet-key-of-the-tests"

// ask sends a request from a client's address.
func ask(s *site, target, address string, headers ...string) *http.Response {
	r := httptest.NewRequest(http.MethodGet, target, http.NoBody)
	r.RemoteAddr = address
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Add(name, value)
	}
	return serve(s, r)
}

func TestClientsHaveQuotas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		s := w.server(t, func(o *parts) {
			o.Quotas = quota.Options{
				Address:        quota.Quota{Units: 20, Window: 10 * time.Second},
				Keys:           []quota.Key{{Name: "wallet", Key: walletKey, Quota: quota.Quota{Units: 100, Window: 10 * time.Second}}},
				TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
			}
		})
		order := ordersPath + createdTx
		for i, step := range []struct {
			wait            time.Duration
			target, address string
			header          string
			status          int
			limit           string
		}{
			{0, order, "192.0.2.1:1000", "", 200, `"address";r=19;t=1`},
			{0, goodSwap, "192.0.2.1:1001", "", 200, `"address";r=9;t=6`},
			{0, goodSwap, "192.0.2.1:1002", "", 429, `"address";r=9;t=6`},
			{0, order, "192.0.2.1:1003", "", 200, `"address";r=8;t=6`},
			{0, order, "192.0.2.2:1000", "", 200, `"address";r=19;t=1`},
			{0, goodSwap + "&accesstoken=" + walletKey, "192.0.2.1:1000", "", 200, `"wallet";r=90;t=1`},
			{0, goodSwap, "192.0.2.9:1000", "Authorization: Bearer " + walletKey, 200, `"wallet";r=80;t=2`},
			{0, order + "?accesstoken=another", "192.0.2.1:1000", "", 200, `"address";r=7;t=7`},
			{0, order, "192.0.2.1:1000", "X-Forwarded-For: 198.51.100.7", 200, `"address";r=6;t=7`}, // not from a proxy
			{0, order, "10.1.2.3:1000", "X-Forwarded-For: 192.0.2.1", 200, `"address";r=5;t=8`},     // from a proxy
			{0, order, "10.1.2.3:1000", "X-Forwarded-For: 198.51.100.7, 192.0.2.1, 10.9.9.9", 200, `"address";r=4;t=8`},
			{0, order, "10.1.2.3:1000", "X-Forwarded-For: nonsense", 200, `"address";r=19;t=1`},
			{0, order, "[2001:db8::1]:1000", "", 200, `"address";r=19;t=1`},
			{0, order, "[2001:db8::ffff:2]:1000", "", 200, `"address";r=18;t=1`}, // same network
			{0, order, "[2001:db8:0:1::1]:1000", "", 200, `"address";r=19;t=1`},
			{0, order, "[::ffff:192.0.2.1]:1000", "", 200, `"address";r=3;t=9`},
			{3500 * time.Millisecond, goodSwap, "192.0.2.1:1000", "", 200, `"address";r=0;t=10`},
			{0, order, "192.0.2.1:1000", "", 429, `"address";r=0;t=10`},
			{20 * time.Second, order, "192.0.2.1:1000", "", 200, `"address";r=19;t=1`},
		} {
			<-time.After(step.wait)
			var headers []string
			if step.header != "" {
				headers = append(headers, step.header)
			}
			response := ask(s, step.target, step.address, headers...)
			synctest.Wait()
			if got := response.Header.Get("RateLimit"); response.StatusCode != step.status || got != step.limit {
				t.Errorf("step %d: HTTP %d, RateLimit %s, want %d, %s", i, response.StatusCode, got, step.status, step.limit)
			}
			if step.status == http.StatusTooManyRequests {
				wantError(t, response, step.status, "QUOTA_EXCEEDED")
				if retry := response.Header.Get("Retry-After"); retry != "1" {
					t.Errorf("step %d: Retry-After %s, want 1", i, retry)
				}
			}
		}
		if policy := ask(s, order, "192.0.2.3:1").Header.Get("RateLimit-Policy"); policy != `"address";q=20;w=10` {
			t.Errorf("RateLimit-Policy = %s", policy)
		}
		if got := do(s, http.MethodOptions, order).Header.Get("RateLimit"); got != "" {
			t.Errorf("a preflight is charged: %s", got)
		}
		if do(s, http.MethodOptions, "/elsewhere").Header.Get("RateLimit") == "" {
			t.Error("a request that an origin may get is not charged")
		}
		if strings.Contains(w.log.String(), walletKey) {
			t.Error("the log tells a key")
		}
	})
}

// TestKeptAnswersAreServedWhileLoadsAreShed occupies all places for loads, then requests cached and other answers.
func TestKeptAnswersAreServedWhileLoadsAreShed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		slow := false
		s := w.server(t, func(o *parts) {
			o.MaxLoads = 3
			find := ordersOf(o).find
			ordersOf(o).find = func(ctx context.Context, tx chain.TxHash) ([]*order.Order, error) {
				if slow {
					<-time.After(5 * time.Second)
				}
				return find(ctx, tx)
			}
		})
		wantStatus(t, ordersPath+claimedTx, get(s, ordersPath+claimedTx), http.StatusOK)
		synctest.Wait()
		slow = true
		var clients sync.WaitGroup
		for _, tx := range []string{createdTx, plainTx, unknownIs} {
			clients.Go(func() { get(s, ordersPath+tx) })
		}
		synctest.Wait()
		shed := get(s, ordersPath+severalTx)
		if wantError(t, shed, http.StatusServiceUnavailable, "OVERLOADED"); shed.Header.Get("Retry-After") != "1" {
			t.Errorf("Retry-After = %q", shed.Header.Get("Retry-After"))
		}
		wantStatus(t, "what is kept", get(s, ordersPath+claimedTx), http.StatusOK)
		clients.Wait()
		slow = false
		time.Sleep(5 * time.Second) // loads continue after their callers have left
		wantStatus(t, "afterwards", get(s, ordersPath+severalTx), http.StatusOK)
	})
}

// TestKeptAnswersAreServedWhileProcessorsAreBusy has loads wait for a processor for longer than allowed: each API
// declines them in its own words within 100 ms, the next ones immediately, and serves cached answers without a wait.
func TestKeptAnswersAreServedWhileProcessorsAreBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWorld(t).server(t)
		kept, loaded := ordersPath+createdTx, "/v1.0/dln/tx/"+createdTx+"/order-ids"
		wantStatus(t, kept, get(s, kept), http.StatusOK)
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
		wantStatus(t, "the first of a few", get(s, loaded), http.StatusOK)
	})
}
