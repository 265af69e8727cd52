package proxy_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/query"
	"crossgate/proxy"
	"crossgate/proxy/quota"
)

func TestEveryRequestIsLoggedWithoutItsQuery(t *testing.T) {
	w := newWorld(t)
	s := w.server(t)
	response := get(s, ordersPath+createdTx+"?accesstoken="+secret)
	var line struct {
		Msg, Method, Route, Path, RequestID, Cache string
		Status, Bytes                              int
	}
	if err := json.Unmarshal(w.log.Bytes(), &line); err != nil {
		t.Fatalf("log %q: %v", w.log.String(), err)
	}
	if line.Method != "GET" || line.Status != http.StatusOK || line.Route != ordersPath+":creationTxHash" ||
		line.Bytes != len(body(t, response)) || line.RequestID != response.Header.Get("X-Request-Id") || line.Cache != "crossgate; fwd=miss; stored" {
		t.Errorf("logged %+v", line)
	}
	if strings.Contains(w.log.String(), secret) {
		t.Errorf("the access token is logged: %s", w.log.String())
	}
}

// TestLinesTellOfClientsWhatTheyMay sends requests with a key and a name, for each level of client detail.
func TestLinesTellOfClientsWhatTheyMay(t *testing.T) {
	for _, each := range []struct {
		detail            proxy.ClientDetail
		from, client, who string
	}{
		{proxy.HideClients, "192.0.2.77:1234", "", ""},
		{proxy.ClientNetworks, "192.0.2.77:1234", "192.0.2.0/24", "wallet/1"},
		{proxy.ClientNetworks, "[2001:db8:1:2::3]:1234", "2001:db8:1::/48", "wallet/1"},
		{proxy.ClientAddresses, "[2001:db8:1:2::3]:1234", "2001:db8:1:2::3", "wallet/1"},
		{proxy.ClientAddresses, "nonsense", "", "wallet/1"},
	} {
		w := newWorld(t)
		s := w.server(t, func(o *parts) {
			o.Clients = each.detail
			o.Quotas.Keys = []quota.Key{{Name: "wallet", Key: secret, Quota: quota.Quota{Units: 10, Window: time.Minute}}}
		})
		r := httptest.NewRequest(http.MethodGet, ordersPath+createdTx, http.NoBody)
		r.RemoteAddr = each.from
		r.Header.Set("Authorization", "Bearer "+secret)
		r.Header.Set("User-Agent", "wallet/1")
		s.Handler().ServeHTTP(httptest.NewRecorder(), r)
		var line struct {
			Client, Key, UserAgent string
			Seconds                float64
		}
		if err := json.Unmarshal(w.log.Bytes(), &line); err != nil {
			t.Fatalf("log %q: %v", w.log.String(), err)
		}
		if line.Client != each.client || line.UserAgent != each.who || line.Key != "wallet" || line.Seconds <= 0 || line.Seconds > 60 {
			t.Errorf("%s of %s: logged %+v, want client %q and user agent %q", each.detail, each.from, line, each.client, each.who)
		}
		if strings.Contains(w.log.String(), secret) {
			t.Errorf("the key is logged: %s", w.log.String())
		}
	}
}

// TestLinesOfRequestsHaveTheirLevel requests an answer twice, the second time as a hit, fails once, and is refused once
// for lack of room and once because the index has read nothing.
func TestLinesOfRequestsHaveTheirLevel(t *testing.T) {
	const floodTx, earlyTx = "0xc3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3", "0xc4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4"
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		s := w.server(t, func(o *parts) {
			o.Logger = slog.New(slog.NewJSONHandler(&w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			find := ordersOf(o).find
			ordersOf(o).find = func(ctx context.Context, tx chain.TxHash) ([]*order.Order, error) {
				switch tx.String() {
				case claimedTx:
					return nil, errors.New("broken")
				case floodTx:
					return nil, cache.ErrBusy
				case earlyTx:
					return nil, query.ErrEmpty
				}
				return find(ctx, tx)
			}
		})
		for _, path := range []string{createdTx, createdTx, claimedTx, floodTx, earlyTx} {
			get(s, ordersPath+path)
			synctest.Wait() // until what was loaded is cached
		}
		var levels []string
		for line := range strings.Lines(w.log.String()) {
			var of struct{ Level, Msg string }
			must.Do(t, json.Unmarshal([]byte(line), &of))
			if of.Msg == "request" {
				levels = append(levels, of.Level)
			}
		}
		if got, want := strings.Join(levels, " "), "INFO DEBUG ERROR INFO INFO"; got != want {
			t.Errorf("levels %s, want %s", got, want)
		}
	})
}

func TestPreflight(t *testing.T) {
	s := newWorld(t).server(t)
	const reads = "GET, HEAD, OPTIONS"
	for target, methods := range map[string]string{
		ordersPath + createdTx: reads, "/api/orders/x": reads, "/api/Transaction/x/orderIds": reads, "/v1.0/dln/tx/x/order-ids": reads,
		"/v1.0/dln/order/x/status": reads, "/api/Satistics/x/lockedAssets": reads, swapPath: "GET, HEAD, POST, OPTIONS",
		listPath: "POST, OPTIONS",
	} {
		response := do(s, http.MethodOptions, target, "Origin: https://wallet.example", "Access-Control-Request-Method: GET")
		header := response.Header
		if response.StatusCode != http.StatusNoContent || header.Get("Access-Control-Allow-Origin") != "*" ||
			header.Get("Access-Control-Allow-Methods") != methods {
			t.Errorf("OPTIONS %s: HTTP %d %v", target, response.StatusCode, header)
		}
	}
}

const (
	clientTrace = "0af7651916cd43dd8448eb211c80319c"
	traceparent = "Traceparent: 00-" + clientTrace + "-b7ad6b7169203331-01"
)

func TestTracesOfClients(t *testing.T) {
	spans := recordSpans(t)
	for _, trusted := range []bool{false, true} {
		spans.Reset()
		s := newWorld(t).server(t, func(o *parts) {
			if trusted {
				o.Quotas.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("127.0.0.0/8")}
			}
			find := ordersOf(o).find
			ordersOf(o).find = func(ctx context.Context, tx chain.TxHash) ([]*order.Order, error) {
				_, span := otel.Tracer("test").Start(ctx, "order.find")
				defer span.End()
				return find(ctx, tx)
			}
		})
		response := get(s, ordersPath+createdTx+"?accesstoken="+secret, traceparent)
		found := spans.GetSpans()
		if len(found) != 2 {
			t.Fatalf("%d spans, want those of the request and its search", len(found))
		}
		search, request := found[0], found[1]
		id := request.SpanContext.TraceID().String()
		if search.Parent.SpanID() != request.SpanContext.SpanID() || request.Name != "GET "+ordersPath+":creationTxHash" {
			t.Errorf("the search %s does not belong to the request %q", search.Name, request.Name)
		}
		if got := response.Header.Get("X-Request-Id"); got != id {
			t.Errorf("X-Request-Id = %s, want the trace %s", got, id)
		}
		if continued := id == clientTrace; continued != trusted {
			t.Errorf("trusted %v: the client's trace is continued %v", trusted, continued)
		}
		if linked := len(request.Links) == 1 && request.Links[0].SpanContext.TraceID().String() == clientTrace; linked == trusted {
			t.Errorf("trusted %v: the client's trace is linked %v", trusted, linked)
		}
		for _, attribute := range request.Attributes {
			if strings.Contains(attribute.Value.String(), secret) {
				t.Errorf("%s tells the access token", attribute.Key)
			}
		}
	}
}

func TestHealth(t *testing.T) {
	cutOff := newWorld(t).server(t, func(o *parts) { o.Unready = func() error { return errors.New("cut off from the database") } })
	wantStatus(t, "/readyz of a replica that is cut off", get(cutOff, "/readyz"), http.StatusServiceUnavailable)
	s := newWorld(t).server(t)
	for draining, ready := range map[bool]int{false: http.StatusOK, true: http.StatusServiceUnavailable} {
		s.Drain(draining)
		wantStatus(t, "/healthz", get(s, "/healthz"), http.StatusOK)
		response := get(s, "/readyz")
		raw := string(body(t, response))
		if response.StatusCode != ready || draining && !strings.Contains(raw, proxy.ErrDraining.Error()) {
			t.Errorf("/readyz: HTTP %d %s", response.StatusCode, raw)
		}
	}
}

// FuzzURL requires every path and query to get an answer that is not a server error, and that is one JSON value unless
// it is a page.
func FuzzURL(f *testing.F) {
	f.Add("/api/Orders/creationTxHash/"+createdTx, "accesstoken=x")
	f.Add("/api/Orders/"+unknownIs, "index=1&index=%zz")
	f.Add("/api/Transaction/"+severalTx+"/orderIds", "")
	f.Add("/v1.0/chain/transaction/", "chainId=%zz&chainId=1;")
	f.Add("//api//Satistics/../"+taker+"/lockedAssets", "\x00")
	f.Add("/", "0")
	f.Add("/order/"+createdTx, "")
	f.Add("/locked/"+taker, "taker=%zz")
	f.Add("/swap", "chainId=1&tokenIn=%zz&tokenInAmount=1e99")
	f.Add("/docs/..", "")
	s := newWorld(f).server(f, func(o *parts) { o.Logger = slog.New(slog.DiscardHandler) })
	f.Fuzz(func(t *testing.T, path, query string) {
		r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, "http://gateway.example/", http.NoBody))(t)
		r.URL.Path, r.URL.RawQuery = path, query
		answer := serve(s, r)
		raw := body(t, answer)
		isAPI := strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, "/v1.0/")
		isJSON := strings.HasPrefix(answer.Header.Get("Content-Type"), "application/json")
		if isAPI && !isJSON || isJSON && !json.Valid(raw) || answer.StatusCode >= http.StatusInternalServerError {
			t.Errorf("%q?%q: HTTP %d %q", path, query, answer.StatusCode, raw)
		}
	})
}
