package proxy_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/query"
	"crossgate/proxy"
	"crossgate/quote"
	"crossgate/upstream"
)

func TestBadRequests(t *testing.T) {
	long := strings.Repeat("a", proxy.LongestURL)
	for name, test := range map[string]struct {
		method, target string
		status         int
		id             string
		code           int
	}{
		"hash too short":            {"GET", ordersPath + "0x1234", 400, "MALFORMED_TRANSACTION_HASH", 400},
		"hash is not hex":           {"GET", ordersPath + strings.Replace(createdTx, "c1", "zz", 1), 400, "MALFORMED_TRANSACTION_HASH", 400},
		"hash of odd letters":       {"GET", ordersPath + "%00%ff%3Cscript%3E", 400, "MALFORMED_TRANSACTION_HASH", 400},
		"hash of 4000 ones":         {"GET", ordersPath + strings.Repeat("1", 4000), 400, "MALFORMED_TRANSACTION_HASH", 400},
		"hash with a slash":         {"GET", ordersPath + "a%2Fb", 404, "PATH_NOT_FOUND", 404},
		"no hash":                   {"GET", ordersPath, 400, "MALFORMED_TRANSACTION_HASH", 400},
		"no hash, no slash":         {"GET", "/api/orders/creationtxhash", 400, "MALFORMED_TRANSACTION_HASH", 400},
		"unknown signature":         {"GET", ordersPath + chain.NewTxHash([]byte(strings.Repeat("\x05", 64))).String(), 404, "TRANSACTION_NOT_FOUND", 404},
		"index of words":            {"GET", ordersPath + severalTx + "?index=first", 400, "INVALID_QUERY_PARAMETERS", 400},
		"index below zero":          {"GET", ordersPath + severalTx + "?index=-1", 400, "INVALID_QUERY_PARAMETERS", 400},
		"index too large":           {"GET", ordersPath + severalTx + "?index=4294967296", 400, "INVALID_QUERY_PARAMETERS", 400},
		"index of nothing":          {"GET", ordersPath + severalTx + "?index=", 400, "INVALID_QUERY_PARAMETERS", 400},
		"two indexes":               {"GET", ordersPath + severalTx + "?index=1&index=2", 400, "INVALID_QUERY_PARAMETERS", 400},
		"index, broken escape":      {"GET", ordersPath + severalTx + "?index=%zz", 400, "INVALID_QUERY_PARAMETERS", 400},
		"index beyond the only one": {"GET", ordersPath + createdTx + "?index=1", 404, "ORDER_INDEX_OUT_OF_RANGE", 404},
		"order id of another form":  {"GET", "/api/Orders/x" + createdTx[2:], 400, "MALFORMED_ORDER_ID", 400},
		"ids of no hash":            {"GET", "/api/Transaction/0x12/orderIds", 400, "MALFORMED_TRANSACTION_HASH", 400},
		"id texts of no hash":       {"GET", "/v1.0/dln/tx/0x12/order-ids", 400, "INVALID_QUERY_PARAMETERS", 2},
		"POST of order ids":         {"POST", "/api/Transaction/" + createdTx + "/orderIds", 405, "METHOD_NOT_ALLOWED", 405},
		"DELETE of an order":        {"DELETE", "/api/Orders/" + unknownIs, 405, "METHOD_NOT_ALLOWED", 405},
		"taker with a bad checksum": {"GET", "/api/Satistics/TDApGsYobnq34xJeEHKbDoAbXXbKiqBMSx/lockedAssets", 400, "MALFORMED_ADDRESS", 400},
		"unknown path":              {"GET", "/api/Orders", 404, "PATH_NOT_FOUND", 404},
		"path upwards":              {"GET", "/api/../../etc/passwd", 404, "PATH_NOT_FOUND", 404},
		"unknown path, POST":        {"POST", "/nothing", 404, "PATH_NOT_FOUND", 404},
		"POST of an order":          {"POST", ordersPath + createdTx, 405, "METHOD_NOT_ALLOWED", 405},
		"DELETE of a swap":          {"DELETE", swapPath, 405, "METHOD_NOT_ALLOWED", 1402},
		"unknown path of swaps":     {"GET", "/V1.0/nothing", 404, "PATH_NOT_FOUND", 1401},
		"invented method":           {"BREW", swapPath, 405, "METHOD_NOT_ALLOWED", 1402},
		"query too long":            {"GET", swapPath + "?x=" + long, 414, "URI_TOO_LONG", 1403},
		"query of orders too long":  {"GET", ordersPath + createdTx + "?x=" + long, 414, "URI_TOO_LONG", 414},
		"path too long":             {"GET", "/" + long + long, 414, "URI_TOO_LONG", 414},
		"swap, broken escape":       {"GET", goodSwap + "&slippage=%zz", 400, "INVALID_QUERY_PARAMETERS", 2},
		"swap, semicolon":           {"GET", goodSwap + ";slippage=1", 400, "INVALID_QUERY_PARAMETERS", 2},
		"affiliate nobody":          {"GET", goodSwap + "&affiliateFeePercent=1", 400, "AFFILIATE_FEE_RECIPIENT_NOT_SET", 1002},
		"affiliate of nothing":      {"GET", goodSwap + "&affiliateFeeRecipient=" + taker, 400, "AFFILIATE_FEE_PERCENT_NOT_SET", 1001},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			response := do(w.server(t), test.method, test.target)
			if strings.Contains(w.log.String(), "panic") {
				t.Error(w.log.String())
			}
			if e := wantError(t, response, test.status, test.id); e.ErrorCode != test.code {
				t.Errorf("errorCode = %d, want %d", e.ErrorCode, test.code)
			}
			if allow := response.Header.Get("Allow"); strings.HasPrefix(allow, "GET, HEAD, ") != (test.status == http.StatusMethodNotAllowed) {
				t.Errorf("Allow = %q", allow)
			}
		})
	}
}

// secret stands in errors that must not reach a client.
const secret = "s3cret-key"

func TestFailuresOfUpstreams(t *testing.T) {
	failing := func(class upstream.Class, retry time.Duration) error {
		return &upstream.Error{Class: class, Endpoint: "rpc", RetryAfter: retry, Err: errors.New(secret)}
	}
	for name, test := range map[string]struct {
		err        error
		status     int
		id         string
		retryAfter string
	}{
		"unreachable":             {failing(upstream.Unreachable, 0), 502, "UPSTREAM_FAILED", "1"},
		"server error":            {failing(upstream.ServerError, 0), 502, "UPSTREAM_FAILED", "1"},
		"bad answer":              {failing(upstream.BadAnswer, 0), 502, "UPSTREAM_FAILED", "1"},
		"rejected":                {failing(upstream.Rejected, 0), 502, "UPSTREAM_FAILED", "1"},
		"timeout":                 {failing(upstream.Timeout, 0), 504, "UPSTREAM_TIMEOUT", "1"},
		"rate limited":            {failing(upstream.RateLimited, 1200*time.Millisecond), 503, "UPSTREAM_UNAVAILABLE", "2"},
		"breaker open":            {failing(upstream.BreakerOpen, time.Hour), 503, "UPSTREAM_UNAVAILABLE", "300"},
		"limits and breakers":     {errors.Join(failing(upstream.RateLimited, 9*time.Second), failing(upstream.BreakerOpen, 4*time.Second)), 503, "UPSTREAM_UNAVAILABLE", "4"},
		"a limit and a timeout":   {errors.Join(failing(upstream.RateLimited, 0), failing(upstream.Timeout, 0)), 504, "UPSTREAM_TIMEOUT", "1"},
		"a timeout and a failure": {fmt.Errorf("venues: %w", errors.Join(failing(upstream.Timeout, 0), failing(upstream.Unreachable, 0))), 502, "UPSTREAM_FAILED", "1"},
		"deadline of the walk":    {fmt.Errorf("quote: %w", context.DeadlineExceeded), 504, "UPSTREAM_TIMEOUT", "1"},
		"chains unreachable":      {fmt.Errorf("find: %w", &query.UnreachableError{Chains: []chain.ID{1, 137}, Err: failing(upstream.Timeout, 7*time.Second)}), 503, "CHAIN_UNREACHABLE", "7"},
		"chains not heard": {fmt.Errorf("find: %w", &query.UnheardError{UnreachableError: query.UnreachableError{
			Chains: []chain.ID{1}, Err: errors.Join(failing(upstream.Timeout, 7*time.Second), failing(upstream.RateLimited, 2*time.Second)),
		}}), 503, "CHAIN_UNREACHABLE", "2"},
		"no calls left for a search": {&query.UnheardError{UnreachableError: query.UnreachableError{
			Chains: []chain.ID{1, 137}, Err: errors.Join(
				&upstream.Error{Class: upstream.RateLimited, Endpoint: secret, RetryAfter: 2 * time.Second, Err: upstream.ErrShort},
				&upstream.Error{Class: upstream.RateLimited, Endpoint: secret, RetryAfter: 5 * time.Second, Err: upstream.ErrShort},
			),
		}}, 503, "OVERLOADED", "5"},
		"too many searches":        {fmt.Errorf("find: %w", &query.BusyError{After: 3 * time.Second}), 503, "OVERLOADED", "3"},
		"by the index alone":       {fmt.Errorf("%w: %w", order.ErrNotFound, query.ErrUnasked), 404, "TRANSACTION_NOT_FOUND", ""},
		"neither index nor chains": {fmt.Errorf("%w: %w", query.ErrUnavailable, &query.UnheardError{}), 503, "INDEX_UNAVAILABLE", "1"},
		"index unavailable":        {fmt.Errorf("%w: %v", query.ErrUnavailable, secret), 503, "INDEX_UNAVAILABLE", "1"},
		"no route":                 {fmt.Errorf("%w: %v", quote.ErrNoRoute, secret), 400, "NO_ROUTE", ""},
		"not found":                {fmt.Errorf("find: %w", order.ErrNotFound), 404, "TRANSACTION_NOT_FOUND", ""},
		"something never heard of": {errors.New(secret), 500, "INTERNAL_SERVER_ERROR", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			s := w.server(t, func(o *parts) {
				ordersOf(o).find = func(context.Context, chain.TxHash) ([]*order.Order, error) { return nil, test.err }
				o.Swaps = estimates(func(context.Context, quote.Request) (quote.Estimate, error) { return quote.Estimate{}, test.err })
			})
			servedBy.Delete(s) // the paths are given errors that only others can meet with
			for _, target := range []string{ordersPath + createdTx, goodSwap} {
				response := get(s, target)
				e := wantError(t, response, test.status, test.id)
				if got := response.Header.Get("Retry-After"); got != test.retryAfter {
					t.Errorf("Retry-After = %q, want %q", got, test.retryAfter)
				}
				if strings.Contains(e.Message, secret) {
					t.Errorf("the client is told %q", e.Message)
				}
			}
			isError := test.status >= 500 && test.id != "INDEX_UNAVAILABLE" && test.id != "OVERLOADED" // of outages and floods
			if logged := strings.Contains(w.log.String(), "level\":\"ERROR"); logged != isError {
				t.Errorf("HTTP %d is logged as %s", test.status, w.log.String())
			}
		})
	}
}

func TestPanicsAreAnswered(t *testing.T) {
	w := newWorld(t)
	s := w.server(t, func(o *parts) {
		ordersOf(o).find = func(context.Context, chain.TxHash) ([]*order.Order, error) { panic("boom") }
	})
	wantError(t, get(s, ordersPath+createdTx), http.StatusInternalServerError, "INTERNAL_SERVER_ERROR")
	if log := w.log.String(); !strings.Contains(log, "boom") || !strings.Contains(log, "problem_test.go") {
		t.Errorf("the log does not say where it panicked: %s", log)
	}
}

func TestPanicsOutsideOfLoadsAreAnswered(t *testing.T) {
	w := newWorld(t)
	s := w.server(t)
	for name, handler := range map[string]gin.HandlerFunc{
		"before": func(*gin.Context) { panic("boom") },
		"after":  func(c *gin.Context) { c.String(http.StatusOK, "begun"); panic("boom") },
	} {
		engine := gin.New()
		engine.Use(s.Middleware()...)
		engine.GET("/"+name, handler)
		recorder := httptest.NewRecorder()
		engine.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/"+name, http.NoBody))
		if name == "before" {
			wantError(t, recorder.Result(), http.StatusInternalServerError, "INTERNAL_SERVER_ERROR")
		} else if got := recorder.Body.String(); got != "begun" {
			t.Errorf("an answer under way continues as %q", got)
		}
	}
	if got := strings.Count(w.log.String(), "panic: boom"); got != 2 {
		t.Errorf("%d panics are logged, want 2:\n%s", got, w.log.String())
	}
}

// TestRefusalsHaveTheStatusOfTheirReason asks for every status that the transport may want.
func TestRefusalsHaveTheStatusOfTheirReason(t *testing.T) {
	for status, id := range map[int]string{
		http.StatusBadRequest:                  "REQUEST_UNREADABLE",
		http.StatusRequestTimeout:              "REQUEST_TOO_SLOW",
		http.StatusRequestEntityTooLarge:       "BODY_TOO_LONG",
		http.StatusRequestHeaderFieldsTooLarge: "HEADER_TOO_LONG",
		http.StatusExpectationFailed:           "EXPECTATION_FAILED",
		http.StatusTooManyRequests:             "TOO_MANY_CONNECTIONS",
		http.StatusNotImplemented:              "TRANSFER_CODING_NOT_SUPPORTED",
		http.StatusServiceUnavailable:          "OVERLOADED",
		http.StatusHTTPVersionNotSupported:     "HTTP_VERSION_NOT_SUPPORTED",
	} {
		answer := httptest.NewRecorder()
		proxy.Refuse(answer, status)
		wantError(t, answer.Result(), status, id)
	}
	plain := httptest.NewRecorder()
	proxy.RefusePlain(plain)
	wantError(t, plain.Result(), http.StatusBadRequest, "HTTPS_REQUIRED")
}
