package proxy_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/internal/golden"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/query"
	"crossgate/quote"
	"crossgate/upstream"
)

// TestRequestsThatCannotBeAnswered has a golden file of requests and of what their clients read, who do not know the
// gateway. For another request add its line and run go test ./proxy -run Cannot -update.
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

// TestProblemsSayWhatHappenedAndWhatToDo has a golden file of what clients read when the index, or the estimator, meets with
// an error, for how many seconds they are sent away, and whether the log has it as an error.
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
		servedBy.Delete(s) // paths are given errors that only others can meet with
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

// wordyServer has read Ethereum to its newest block and Base not yet; what it is asked for meets with an error, if any.
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
