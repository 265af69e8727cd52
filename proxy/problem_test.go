package proxy_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/chain"
	"crossgate/internal/golden"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/query"
	"crossgate/proxy"
	"crossgate/quote"
	"crossgate/upstream"
)

// TestLongRequestsAreRefused covers what is too long for a line of testdata/requests.txt.
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
	s.MountHandler(http.MethodPost, "/whole", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if body, err := io.ReadAll(r.Body); err == nil {
			t.Errorf("a handler reads %d bytes", len(body))
		}
	}))
	serve(s, httptest.NewRequest(http.MethodPost, "/whole", strings.NewReader(strings.Repeat("a", proxy.BodyBytes+1))))
}

// secret is part of errors and must not reach a client.
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

// TestRefusalsHaveTheStatusOfTheirReason covers every status that the transport uses.
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

// TestRequestsThatCannotBeAnswered compares requests, and what clients without knowledge of the gateway read, with a
// golden file. To add a request, add its line and run go test ./proxy -run Cannot -update.
func TestRequestsThatCannotBeAnswered(t *testing.T) {
	path := filepath.Join("testdata", "requests.txt")
	var text strings.Builder
	w, s := wordyServer(t, nil)
	for _, each := range strings.Split(strings.TrimSpace(string(must.Get(os.ReadFile(path))(t))), "\n\n") {
		asked, _, _ := strings.Cut(each, "\n")
		words := append(strings.SplitN(asked, " ", 3), "")
		response := serve(s, httptest.NewRequest(words[0], words[1], strings.NewReader(words[2])))
		e := problemIn(t, response)
		fmt.Fprintf(&text, "%s\n%d %d %s\n", strings.TrimSpace(asked), response.StatusCode, e.ErrorCode, e.ErrorID)
		if allow := response.Header.Get("Allow"); allow != "" {
			fmt.Fprintf(&text, "Allow: %s\n", allow)
		}
		fmt.Fprintf(&text, "%s\n\n", e.Message)
		if w.lastSwap.Chain != 0 {
			t.Errorf("%s is estimated", asked)
		}
	}
	golden.Check(t, path, text.String())
}

// TestProblemsSayWhatHappenedAndWhatToDo compares with a golden file what clients read when the index or the estimator
// fails, their Retry-After, and whether it is logged as an error.
func TestProblemsSayWhatHappenedAndWhatToDo(t *testing.T) {
	failing := func(class upstream.Class, retry time.Duration) error {
		return &upstream.Error{Class: class, Endpoint: "rpc", RetryAfter: retry, Err: errors.New(secret)}
	}
	var text strings.Builder
	for _, each := range []struct {
		target string
		err    error
	}{
		{ordersPath + createdTx, &query.UnheardError{UnreachableError: query.UnreachableError{Chains: []chain.ID{56}, Err: context.DeadlineExceeded}}},
		{ordersPath + createdTx, &query.UnreachableError{Chains: []chain.ID{56}, Err: context.DeadlineExceeded}},
		{ordersPath + createdTx, &query.UnreachableError{Chains: []chain.ID{1, 137}, Err: context.DeadlineExceeded}},
		{goodSwap, quote.ErrLowBalance},
		{goodSwap, quote.ErrUnsupportedChain},
		{goodSwap, quote.ErrUnsupportedTokenIn},
		{goodSwap, quote.ErrUnsupportedTokenOut},
		{goodSwap, quote.ErrNoAffiliate},
		{goodSwap, quote.ErrReverted},
		{goodSwap, fmt.Errorf("%w: %w", quote.ErrNoTransaction, quote.ErrBelowMinimum)},
		{goodSwap, quote.ErrSenderLacks},
		{goodSwap, quote.ErrNoMinimum},
		{goodSwap, quote.ErrNoPayee},
		{goodSwap, quote.ErrUnsimulated},
		{goodSwap, quote.ErrNoTransaction},
		{goodSwap, failing(upstream.RateLimited, 0)},
		{goodSwap, failing(upstream.Timeout, 0)},
		{goodSwap, failing(upstream.BadAnswer, 0)},
		{ordersPath + createdTx, query.ErrEmpty},
		{ordersPath + createdTx, failing(upstream.Unreachable, 0)},
		{ordersPath + createdTx, failing(upstream.ServerError, 0)},
		{ordersPath + createdTx, failing(upstream.BadAnswer, 0)},
		{ordersPath + createdTx, failing(upstream.Rejected, 0)},
		{ordersPath + createdTx, failing(upstream.Timeout, 0)},
		{ordersPath + createdTx, failing(upstream.RateLimited, 1200*time.Millisecond)},
		{ordersPath + createdTx, failing(upstream.BreakerOpen, time.Hour)},
		{ordersPath + createdTx, errors.Join(failing(upstream.RateLimited, 9*time.Second), failing(upstream.BreakerOpen, 4*time.Second))},
		{ordersPath + createdTx, errors.Join(failing(upstream.RateLimited, 0), failing(upstream.Timeout, 0))},
		{goodSwap, fmt.Errorf("venues: %w", errors.Join(failing(upstream.Timeout, 0), failing(upstream.Unreachable, 0)))},
		{goodSwap, fmt.Errorf("quote: %w", context.DeadlineExceeded)},
		{ordersPath + createdTx, fmt.Errorf("find: %w", &query.UnreachableError{Chains: []chain.ID{1, 137}, Err: failing(upstream.Timeout, 7*time.Second)})},
		{ordersPath + createdTx, fmt.Errorf("find: %w", &query.UnheardError{UnreachableError: query.UnreachableError{
			Chains: []chain.ID{1}, Err: errors.Join(failing(upstream.Timeout, 7*time.Second), failing(upstream.RateLimited, 2*time.Second)),
		}})},
		{ordersPath + createdTx, &query.UnheardError{UnreachableError: query.UnreachableError{
			Chains: []chain.ID{1, 137}, Err: errors.Join(
				&upstream.Error{Class: upstream.RateLimited, Endpoint: secret, RetryAfter: 2 * time.Second, Err: upstream.ErrShort},
				&upstream.Error{Class: upstream.RateLimited, Endpoint: secret, RetryAfter: 5 * time.Second, Err: upstream.ErrShort},
			),
		}}},
		{ordersPath + createdTx, fmt.Errorf("find: %w", &query.BusyError{After: 3 * time.Second})},
		{ordersPath + createdTx, fmt.Errorf("%w: %w", order.ErrNotFound, query.ErrUnasked)},
		{ordersPath + createdTx, fmt.Errorf("%w: %w", query.ErrUnavailable, &query.UnheardError{})},
		{ordersPath + createdTx, fmt.Errorf("%w: %v", query.ErrUnavailable, secret)},
		{goodSwap, fmt.Errorf("%w: %v", quote.ErrNoRoute, secret)},
		{ordersPath + createdTx, fmt.Errorf("find: %w", order.ErrNotFound)},
		{ordersPath + createdTx, errors.New(secret)},
	} {
		w, s := wordyServer(t, each.err)
		servedBy.Delete(s) // paths get errors that only others can have
		response := get(s, each.target)
		e := problemIn(t, response)
		wait, isLogged := response.Header.Get("Retry-After"), strings.Contains(w.log.String(), `"level":"ERROR"`)
		fmt.Fprintf(&text, "%s (%T: %v)\n%d %d %s, wait %q, logged as an error: %v\n%s\n\n",
			each.target, each.err, each.err, response.StatusCode, e.ErrorCode, e.ErrorID, wait, isLogged, e.Message)
		if strings.Contains(e.Message, secret) {
			t.Errorf("%v: the client reads %q", each.err, e.Message)
		}
	}
	golden.Check(t, filepath.Join("testdata", "problems.txt"), text.String())
}

// wordyServer has read Ethereum to its newest block but not Base yet; its requests fail with err if not nil.
func wordyServer(t *testing.T, err error) (*world, *site) {
	w := newWorld(t)
	w.basis = []order.ChainBasis{followed(1, order.Lag{Head: 90, Indexed: 90}), followed(8453, order.Lag{})}
	s := w.server(t, func(o *parts) {
		if err == nil {
			return
		}
		ordersOf(o).find = func(context.Context, chain.TxHash) ([]*order.Order, error) { return nil, err }
		o.Swaps = estimates(func(context.Context, quote.Request) (quote.Estimate, error) { return quote.Estimate{}, err })
	})
	return w, s
}
