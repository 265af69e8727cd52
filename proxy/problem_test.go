package proxy_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/proxy"
)

// TestLongRequestsAreRefused has what is too long for a line of testdata/requests.txt.
func TestLongRequestsAreRefused(t *testing.T) {
	s, long := newWorld(t).server(t), strings.Repeat("a", proxy.LongestURL)
	for _, test := range []struct {
		target, body string
		status       int
		id           string
		code         int
		says         string
	}{
		{ordersPath + strings.Repeat("1", 4000), "", 400, "MALFORMED_TRANSACTION_HASH", 400, "64 hex digits"},
		{swapPath + "?x=" + long, "", 414, "URI_TOO_LONG", 1403, ""},
		{ordersPath + createdTx + "?x=" + long, "", 414, "URI_TOO_LONG", 414, ""},
		{"/" + long + long, "", 414, "URI_TOO_LONG", 414, ""},
		{"/v1.0/token-list/search?query=" + long[:129], "", 400, "INVALID_QUERY_PARAMETERS", 2, ""},
		{listPath, `{"giveChainIds":[` + strings.Repeat("1,", 100) + `1]}`, 400, "INVALID_BODY", 400, "giveChainIds must have at most 100 values, not 101"},
		{unlockPath, `{"unlockAuthorities":"` + strings.Repeat(taker+" ", 101) + `"}`, 400, "INVALID_BODY", 400, "unlockAuthorities must have at most 100 values, not 101"},
	} {
		method := map[bool]string{true: http.MethodGet, false: http.MethodPost}[test.body == ""]
		response := serve(s, httptest.NewRequest(method, test.target, strings.NewReader(test.body)))
		if e := wantError(t, response, test.status, test.id); e.ErrorCode != test.code || !strings.Contains(e.Message, test.says) {
			t.Errorf("%.60s %.60s: %+v, want code %d and %q", test.target, test.body, e, test.code, test.says)
		}
	}
}

// secret stands in errors that must not reach a client.
const secret = "s3cret-key"

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
