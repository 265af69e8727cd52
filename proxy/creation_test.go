package proxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"crossgate/chain"
	"crossgate/internal/golden"
	"crossgate/internal/must"
	"crossgate/order/creation"
	"crossgate/quote"
	"crossgate/quote/crosschain"
	"crossgate/token"
)

const (
	createPath = "/v1.0/dln/order/create-tx"
	payerText  = "0x324c0497c9b189d238be89e0e5b7366c6f24e349"
	walletText = "0x91ee81601737a5ab78c1df379b380b2cc9c7b2a6"
	mintText   = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"

	tokenAccountText = "7Sa6JgAHBKWiEkqW3tJu3umYtSDxcouhRurwQeN1589X" // off the curve of keys
)

// goodOrder returns a complete request of create-tx, with changes: pairs of a name and a value, "-" removes the name.
func goodOrder(changes ...string) url.Values {
	query := url.Values{
		"srcChainId": {"8453"}, "srcChainTokenIn": {usdcText}, "srcChainTokenInAmount": {"5000000"}, "dstChainId": {"137"},
		"dstChainTokenOut": {"0x0000000000000000000000000000000000000000"}, "dstChainTokenOutAmount": {"auto"},
		"dstChainTokenOutRecipient": {walletText}, "senderAddress": {payerText},
		"srcChainOrderAuthorityAddress": {payerText}, "dstChainOrderAuthorityAddress": {walletText},
	}
	for i := 0; i < len(changes); i += 2 {
		query.Set(changes[i], changes[i+1])
		if changes[i+1] == "-" {
			query.Del(changes[i])
		}
	}
	return query
}

// asking returns a server that records its estimator's requests and answers with err.
func asking(t *testing.T, err error) (*site, *[]crosschain.Request) {
	var asked []crosschain.Request
	return newWorld(t).server(t, func(o *parts) {
		o.Creations = func(_ context.Context, r crosschain.Request) (crosschain.Estimate, error) {
			asked = append(asked, r)
			return crosschain.Estimate{}, err
		}
	}), &asked
}

// TestBadOrderParametersAreNamed sends what differs from a good order in testdata/order_parameters.txt to each path of
// orders; "-" leaves a parameter out. Below it is what clients read, which -update writes. Nothing is estimated.
func TestBadOrderParametersAreNamed(t *testing.T) {
	s, asked := asking(t, nil)
	file := filepath.Join("testdata", "order_parameters.txt")
	var text strings.Builder
	for _, each := range strings.Split(strings.TrimSpace(string(must.Get(os.ReadFile(file))(t))), "\n\n") {
		changed, _, _ := strings.Cut(each, "\n")
		var changes []string
		for part := range strings.SplitSeq(changed, "&") {
			name, value, _ := strings.Cut(part, "=")
			changes = append(changes, name, value)
		}
		said := map[string]bool{}
		for _, path := range []string{createPath, createPath + "/explain", "/v1.0/dln/order/quote"} {
			response := get(s, path+"?"+goodOrder(changes...).Encode())
			var p struct{ ErrorID, ErrorMessage string }
			must.Do(t, json.Unmarshal(body(t, response), &p))
			if said[p.ErrorID+"\n"+p.ErrorMessage] = true; response.StatusCode != http.StatusBadRequest || len(said) > 1 {
				t.Errorf("%s of %s: %d, read are %q", path, changed, response.StatusCode, slices.Sorted(maps.Keys(said)))
			}
		}
		fmt.Fprintf(&text, "%s\n%s\n\n", changed, slices.Sorted(maps.Keys(said))[0])
	}
	golden.Check(t, file, text.String())
	if len(*asked) > 0 {
		t.Errorf("%d of them were estimated", len(*asked))
	}
}

// TestOrderParametersAreRead requires every parameter in its place.
func TestOrderParametersAreRead(t *testing.T) {
	s, asked := asking(t, quote.ErrNoRoute)
	call := creation.Call{
		Fallback: address(t, walletText), Executor: chain.NativeCoin(chain.EVM), Delayed: true,
		Payload: creation.CallPayload(address(t, payerText), 70_000, []byte{1, 2, 3, 4}),
	}
	serve(s, httptest.NewRequest(http.MethodGet, createPath+"?"+goodOrder(
		"prependOperatingExpenses", "true", "additionalTakerRewardBps", "85", "affiliateFeePercent", "0.125", "affiliateFeeRecipient", walletText,
		"allowedTaker", payerText, "srcAllowedCancelBeneficiary", payerText, "srcChainRefundAddress", walletText, "referralCode", "31805",
		"metadata", "0x0102030405", "srcChainTokenInSenderPermit", "0x"+strings.Repeat("ab", 129), "srcChainPriorityLevel", "agressive",
		"srcIntermediaryTokenAddress", usdcText, "dstIntermediaryTokenAddress", usdcText, "dstChainTokenOutAmount", "77",
		"dlnHook", `{"type":"evm_transaction_call","data":{"to":"`+payerText+`","calldata":"0x01020304","gas":70000}}`,
	).Encode(), http.NoBody))
	if len(*asked) != 1 {
		t.Fatalf("%d requests, want 1", len(*asked))
	}
	usdc, payer, wallet := address(t, usdcText), address(t, payerText), address(t, walletText)
	want := crosschain.Request{
		Give: 8453, Take: 137, TokenIn: usdc, TokenOut: chain.NativeCoin(chain.EVM), AmountIn: chain.NewAmount(5_000_000), AmountOut: chain.NewAmount(77),
		Prepend: true, IncentiveBps: 85, GiveReserve: usdc, TakeReserve: usdc, Priority: quote.Aggressive,
		ExternalCall: call.Envelope(), CallTarget: payer, CallGas: 70_000,
		Making: &crosschain.Making{Sender: payer, Refund: wallet, Recipient: wallet, ReferralCode: 31805, Metadata: [20]byte{1, 2, 3, 4, 5}},
	}
	want.Making.Permit = []byte(strings.Repeat("\xab", 129))
	want.Making.Authorities.GivePatch, want.Making.Authorities.Order = payer, wallet
	want.Making.Authorities.AllowedTaker, want.Making.Authorities.CancelBeneficiary = payer, payer
	got := (*asked)[0]
	if got.Affiliate.Percent.String() != "0.125" || got.Affiliate.Recipient != wallet {
		t.Errorf("affiliate is %+v", got.Affiliate)
	}
	got.Affiliate = quote.Affiliate{}
	golden.Same(t, "the request", want, got, cmp.AllowUnexported(chain.Address{}, chain.Amount{}),
		cmp.Comparer(func(a, b chain.Amount) bool { return a == b }))
}

// TestLongHooksAreRead sends as long a hook as the hosted service's servers let through, besides a long header.
func TestLongHooksAreRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []byte
		client, stop := running(t, newWorld(t), func(o *parts) {
			o.Creations = func(_ context.Context, r crosschain.Request) (crosschain.Estimate, error) {
				asked = r.ExternalCall
				return crosschain.Estimate{}, quote.ErrNoRoute
			}
		})
		hook := `{"type":"evm_transaction_call","data":{"to":"` + payerText + `","calldata":"0x` + strings.Repeat("ab", 7000) + `"}}`
		request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, "http://crossgate"+createPath+"?"+goodOrder("dlnHook", hook).Encode(), http.NoBody))(t)
		request.Header.Set("Cookie", strings.Repeat("c", 4000))
		response := must.Get(client.Do(request))(t)
		if response.Body.Close(); len(asked) < 7000 {
			t.Errorf("HTTP %d, a call of %d bytes was read", response.StatusCode, len(asked))
		}
		must.Do(t, stop())
	})
}

// TestOrderWithoutPartiesIsAnEstimation omits one party at a time, and calls the older path, which has none.
func TestOrderWithoutPartiesIsAnEstimation(t *testing.T) {
	s, asked := asking(t, quote.ErrNoRoute)
	for _, missing := range []string{"dstChainTokenOutRecipient", "srcChainOrderAuthorityAddress", "dstChainOrderAuthorityAddress"} {
		serve(s, httptest.NewRequest(http.MethodGet, createPath+"?"+goodOrder(missing, "-").Encode(), http.NoBody))
	}
	serve(s, httptest.NewRequest(http.MethodGet, "/v1.0/dln/order/quote?"+goodOrder().Encode(), http.NoBody))
	serve(s, httptest.NewRequest(http.MethodGet, createPath+"?"+goodOrder("senderAddress", "-").Encode(), http.NoBody))
	for i, r := range *asked {
		if wantsTx := i == 4; wantsTx != (r.Making != nil) {
			t.Errorf("request %d: a transaction is to be made: %v, want %v", i, r.Making != nil, wantsTx)
		}
	}
	if len(*asked) != 5 || (*asked)[4].Making.Sender != address(t, payerText) {
		t.Errorf("%d requests, want 5, the last by the order authority", len(*asked))
	}
	for _, path := range []string{
		"/v1.0/dln/order/quote?" + goodOrder("srcChainTokenInAmount", "max").Encode(),
		createPath + "?" + goodOrder("srcChainTokenInAmount", "max", "dstChainOrderAuthorityAddress", "-").Encode(),
	} {
		serve(s, httptest.NewRequest(http.MethodGet, path, http.NoBody))
		last := (*asked)[len(*asked)-1]
		if !last.MaxBalance || last.Making == nil || last.Making.Sender != address(t, payerText) || !last.Making.Recipient.IsAbsent() {
			t.Errorf("%s: %+v by %+v, want an estimation of the sender's balance", path, last, last.Making)
		}
	}
}

// TestEqualOrdersShareAQuote asks with parameters that do not matter, and with one that does.
func TestEqualOrdersShareAQuote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, usdc := 0, address(t, usdcText)
		between := crosschain.Route{TokenIn: usdc, TokenOut: usdc, Give: token.Key{Chain: 8453, Address: usdc}, Take: token.Key{Chain: 137, Address: usdc}}
		course := must.Get(crosschain.Rules{}.Give(chain.NewAmount(5_000_000), nil, [2]uint8{6, 6}, chain.NewAmount(1)))(t).Take(nil)
		s := newWorld(t).server(t, func(o *parts) {
			o.Creations = func(context.Context, crosschain.Request) (crosschain.Estimate, error) {
				asked++
				return crosschain.Estimate{Course: course, Route: between, At: time.Now()}, nil
			}
		})
		for _, test := range []struct {
			name, value string
			asked       int
		}{
			{"accesstoken", secret, 1},
			{"_", "1784948713", 1},
			{"additionalTakerRewardBps", "0", 1},
			{"AdditionalTakerRewardBps", "1", 2},
			{"srcChainTokenInAmount", "5000001", 3},
		} {
			response := get(s, "/v1.0/dln/order/quote?"+goodOrder(test.name, test.value).Encode())
			if response.StatusCode != http.StatusOK || asked != test.asked {
				t.Errorf("%s=%s: HTTP %d after %d estimates, want %d", test.name, test.value, response.StatusCode, asked, test.asked)
			}
		}
	})
}

// TestOrderFailuresHaveTheirErrors maps failures of an order to errors.
func TestOrderFailuresHaveTheirErrors(t *testing.T) {
	for _, test := range []struct {
		err     error
		status  int
		errorID string
	}{
		{crosschain.ErrSameChain, 400, "SAME_SOURCE_AND_DESTINATION_CHAINS"},
		{crosschain.ErrImpossibleRoute, 400, "IMPOSSIBLE_ROUTE"},
		{crosschain.ErrNoCreation, 400, "IMPOSSIBLE_ROUTE"},
		{crosschain.ErrLowAmount, 400, "ERROR_LOW_GIVE_AMOUNT"},
		{crosschain.ErrIntermediary, 400, "INTERMEDIARY_TOKEN_NOT_CONFIGURED"},
		{crosschain.ErrRefusesCoin, 400, "RECIPIENT_REFUSES_COIN"},
		{crosschain.ErrNotDelivered, 400, "UNSUPPORTED_TOKEN_OUT"},
		{crosschain.ErrNotRefundable, 400, "INVALID_QUERY_PARAMETERS"},
		{crosschain.ErrKeyless, 400, "INVALID_QUERY_PARAMETERS"},
		{crosschain.ErrCallsNothing, 400, "EXTERNAL_CALL_WITHOUT_CODE"},
		{crosschain.ErrNotClaimable, 400, "GIVE_TOKEN_NOT_CLAIMABLE"},
		{crosschain.ErrUnknownCosts, 502, "ESTIMATION_FAILED"},
		{quote.ErrUnsupportedTokenIn, 400, "UNSUPPORTED_TOKEN_IN"},
		{quote.ErrUnsupportedTokenOut, 400, "UNSUPPORTED_TOKEN_OUT"},
		{quote.ErrUnsupportedChain, 400, "UNSUPPORTED_CHAIN"},
		{quote.ErrReverted, 400, "TRANSACTION_WOULD_REVERT"},
		{quote.ErrUnsimulated, 502, "TRANSACTION_NOT_SIMULATED"},
		{quote.ErrNoTransaction, 502, "UPSTREAM_FAILED"},
	} {
		s, _ := asking(t, fmt.Errorf("on the way: %w", test.err))
		wantError(t, serve(s, httptest.NewRequest(http.MethodGet, createPath+"?"+goodOrder().Encode(), http.NoBody)), test.status, test.errorID)
	}
}

// FuzzOrderParameters requires an answer to any query.
func FuzzOrderParameters(f *testing.F) {
	f.Add(goodOrder().Encode())
	f.Add(goodOrder("dlnHook", `{"type":"evm_hook_data_v1","data":{"fallbackAddress":"`+payerText+`","target":"`+payerText+`","reward":"0","isNonAtomic":false,"isSuccessRequired":false,"targetPayload":"0x"}}`).Encode())
	f.Add("srcChainId=1&srcChainId=2&%zz")
	s := newWorld(f).server(f, func(o *parts) {
		o.Creations = func(context.Context, crosschain.Request) (crosschain.Estimate, error) {
			return crosschain.Estimate{}, quote.ErrNoRoute
		}
	})
	f.Fuzz(func(t *testing.T, query string) {
		request := httptest.NewRequest(http.MethodGet, createPath, http.NoBody)
		request.URL.RawQuery = query
		if response := serve(s, request); response.StatusCode != http.StatusBadRequest && response.StatusCode != http.StatusRequestURITooLong {
			t.Errorf("%q: %d", query, response.StatusCode)
		}
	})
}
