package proxy_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/query"
	"crossgate/quote"
	"crossgate/upstream"
)

var update = flag.Bool("update", false, "write what clients read of problems anew")

// TestProblemsSayWhatHappenedAndWhatToDo has a golden file of what clients read, to be read as somebody would who knows
// nothing of the gateway. An error is what the index and the estimator meet with.
func TestProblemsSayWhatHappenedAndWhatToDo(t *testing.T) {
	const statistics = "/api/Statistics/getDaily?dateFrom="
	solana := strings.NewReplacer("chainId=8453", "chainId=7565164", usdcText, "So11111111111111111111111111111111111111112", wethText, chain.NativeCoin(chain.SVM).Format(chain.SVM), nobody, solanaText).Replace(goodSwap)
	var text strings.Builder
	for _, each := range []struct {
		target string
		err    error
		body   string // of a POST
	}{
		{target: ordersPath + "0x12"},
		{target: ordersPath + unknownIs},
		{target: ordersPath + plainTx},
		{target: ordersPath + severalTx + "?index=3"},
		{target: ordersPath + createdTx, err: &query.UnheardError{UnreachableError: query.UnreachableError{Chains: []chain.ID{56}, Err: context.DeadlineExceeded}}},
		{target: ordersPath + createdTx, err: &query.UnreachableError{Chains: []chain.ID{56}, Err: context.DeadlineExceeded}},
		{target: ordersPath + createdTx, err: &query.UnreachableError{Chains: []chain.ID{1, 137}, Err: context.DeadlineExceeded}},
		{target: ordersPath + createdTx, err: &query.UnheardError{UnreachableError: query.UnreachableError{
			Chains: []chain.ID{1, 137}, Err: &upstream.Error{Class: upstream.RateLimited, RetryAfter: time.Second, Err: upstream.ErrShort},
		}}},
		{target: ordersPath + createdTx, err: fmt.Errorf("%w: %w", order.ErrNotFound, query.ErrUnasked)},
		{target: "/api/Orders/0x12"},
		{target: "/api/Orders/" + unknownIs},
		{target: "/v1.0/dln/order/0x12/status"},
		{target: "/v1.0/dln/order/" + unknownIs + "/status"},
		{target: "/api/SameChainSwap/8454/tx/0x12?index=last"},
		{target: "/api/SameChainSwap/8453/tx/" + plainTx},
		{target: "/api/SameChainSwap/8453/tx/" + unknownIs},
		{target: "/api/SameChainSwap/137/tx/" + unknownIs},
		{target: "/api/SameChainSwap/8453/tx/" + swappedTx + "?index=2"},
		{target: "/api/SameChainSwap/" + unknownIs},
		{target: "/api/Satistics/vitalik.eth/lockedAssets"},
		{target: statistics + "2024-01-01&dateTo=2025-01-01"},
		{target: statistics + "2025-01-02&dateTo=2025-01-01"},
		{target: statistics + "yesterday"},
		{target: listPath, body: `{"take":0,"orderTradeType":"Limit","maker":"vitalik.eth"}`},
		{target: listPath, body: `[]`},
		{target: unlockPath, body: `{}`},
		{target: swapPath},
		{target: swapPath, body: `[]`},
		{target: strings.Replace(goodSwap, "transaction?", "estimation?tokenInAmount=max&", 1)},
		{target: strings.Replace(strings.Replace(goodSwap, "transaction?", "estimation?", 1), "5000000", "max", 1)},
		{target: strings.Replace(solana, "5000000", "max", 1)},
		{target: goodSwap, err: quote.ErrLowBalance},
		{target: goodSwap, err: quote.ErrUnsupportedChain},
		{target: goodSwap, err: quote.ErrUnsupportedTokenIn},
		{target: goodSwap, err: quote.ErrUnsupportedTokenOut},
		{target: goodSwap, err: quote.ErrNoRoute},
		{target: goodSwap, err: quote.ErrNoAffiliate},
		{target: goodSwap, err: quote.ErrReverted},
		{target: goodSwap, err: quote.ErrSenderLacks},
		{target: goodSwap, err: quote.ErrNoMinimum},
		{target: goodSwap, err: quote.ErrNoPayee},
		{target: goodSwap, err: quote.ErrUnsimulated},
		{target: goodSwap, err: quote.ErrNoTransaction},
		{target: goodSwap, err: &upstream.Error{Class: upstream.RateLimited}},
		{target: goodSwap, err: &upstream.Error{Class: upstream.Timeout}},
		{target: goodSwap, err: &upstream.Error{Class: upstream.BadAnswer}},
		{target: ordersPath + createdTx, err: query.ErrUnavailable},
		{target: ordersPath + createdTx, err: query.ErrEmpty},
		{target: "/v1.0/dln/order/create-tx"},
		{target: "/V1.0/dln/order/Quote/"},
	} {
		method := http.MethodGet
		if each.body != "" {
			method = http.MethodPost
		}
		answer := httptest.NewRecorder()
		server := wordyServer(t, each.err)
		server.Handler().ServeHTTP(answer, httptest.NewRequest(method, each.target, strings.NewReader(each.body)))
		var said struct {
			ErrorCode        int
			ErrorID, Message string
		}
		if err := json.Unmarshal(answer.Body.Bytes(), &said); err != nil || said.Message == "" {
			t.Fatalf("%s: %d %s", each.target, answer.Code, answer.Body)
		}
		fmt.Fprintf(&text, "%s %s %s", method, each.target, each.body)
		if each.err != nil {
			fmt.Fprintf(&text, " (%T: %v)", each.err, each.err)
		}
		fmt.Fprintf(&text, "\n%d %d %s\n%s\n\n", answer.Code, said.ErrorCode, said.ErrorID, said.Message)
	}
	const golden = "testdata/problems.txt"
	if *update {
		must.Do(t, os.WriteFile(golden, []byte(text.String()), 0o644))
	}
	want := must.Get(os.ReadFile(golden))(t)
	if got := text.String(); got != string(want) {
		t.Errorf("go test ./proxy -run %s -update writes the file anew; it should be\n%s", t.Name(), got)
	}
}

// wordyServer has read Ethereum to its newest block and Base not yet; what it is asked for meets with an error, if any.
func wordyServer(t *testing.T, err error) *site {
	w := newWorld(t)
	w.basis = []order.ChainBasis{followed(1, order.Lag{Head: 90, Indexed: 90}), followed(8453, order.Lag{})}
	s := w.server(t, func(o *parts) {
		if err == nil {
			return
		}
		ordersOf(o).find = func(context.Context, chain.TxHash) ([]*order.Order, error) { return nil, err }
		o.Swaps = estimates(func(context.Context, quote.Request) (quote.Estimate, error) { return quote.Estimate{}, err })
	})
	servedBy.Delete(s) // paths are given errors that only others can meet with
	return s
}
