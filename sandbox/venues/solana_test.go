package venues

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"crossgate/sandbox/solana"
)

const (
	wrappedMint = "So11111111111111111111111111111111111111112"
	usdcMint    = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
)

var trader = solana.NewAccount("trader", [32]byte{1})

// solanaVenue returns a venue over pools of the coin and USDC.
func solanaVenue(venue string) http.Handler {
	ledger := solana.New(time.Unix(1_767_355_200, 0))
	ledger.Stock(solana.NewPool(solana.Tokens[0], solana.Tokens[1], 25), 100_000_000_000_000, 15_000_000_000_000)
	ledger.Stock(solana.NewPool(solana.Tokens[0], solana.Tokens[1], 5), 10_000_000_000_000, 1_500_000_000_000)
	ledger.Fund(trader.Key, 1_000_000_000_000, 1_000_000)
	return keyed(venue, Market{Solana: ledger})
}

// keyed serves a venue to callers with its key.
func keyed(venue string, m Market) http.Handler {
	h := Handlers(m)[venue]
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("X-Api-Key", Key(venue))
		h.ServeHTTP(w, r)
	})
}

// callHandler sends a request and decodes the response.
func callHandler(t *testing.T, h http.Handler, method, target, body string) (status int, answer map[string]any) {
	t.Helper()
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, httptest.NewRequest(method, target, strings.NewReader(body)))
	if err := json.Unmarshal(recorder.Body.Bytes(), &answer); err != nil {
		t.Fatalf("%s %s answers %q: %v", method, target, recorder.Body, err)
	}
	return recorder.Code, answer
}

// query returns the query of a swap of coin for USDC, changed by pairs of name and value.
func query(changes ...string) string {
	query := url.Values{"inputMint": {wrappedMint}, "outputMint": {usdcMint}, "amount": {"1000000000"}, "slippageBps": {"50"}}
	for n := 0; n < len(changes); n += 2 {
		query.Set(changes[n], changes[n+1])
	}
	return "?" + query.Encode()
}

func TestJupiterDialect(t *testing.T) {
	h := solanaVenue("jupiter")
	taker := trader.Key.String()
	for name, row := range map[string]struct{ query, says string }{
		"no amount":         {query("taker", taker, "amount", ""), "mount"},
		"too many bits":     {query("taker", taker, "amount", "18446744073709551616"), "mount"},
		"no mint":           {query("taker", taker, "inputMint", "0x12"), "int"},
		"unknown mint":      {query("taker", taker, "inputMint", taker), "No routes found"},
		"no pools":          {query("taker", taker, "inputMint", solana.Tokens[4].Mint.String()), "No routes found"},
		"excluded pools":    {query("taker", taker, "excludeDexes", "GoonFi,Token Swap"), "No routes found"},
		"the same mint":     {query("taker", taker, "outputMint", wrappedMint), "not allowed to be equal"},
		"slippage of more":  {query("taker", taker, "slippageBps", "10001"), "lippageBps"},
		"a platform fee":    {query("taker", taker, "platformFeeBps", "20"), "latform"},
		"nobody":            {query(), "allet"},
		"no wallet":         {query("taker", "me"), "allet"},
		"an unknown level":  {query("taker", taker, "computeUnitPricePercentile", "extreme"), "rioritization"},
		"a foreign account": {query("taker", taker, "destinationTokenAccount", usdcMint), "estinationTokenAccount"},
	} {
		status, answer := callHandler(t, h, http.MethodGet, "/swap/v2/build"+row.query, "")
		if text, _ := answer["error"].(string); status != http.StatusBadRequest || !strings.Contains(text, row.says) {
			t.Errorf("%s: HTTP %d %v, want 400 about %s", name, status, answer, row.says)
		}
	}
	for _, name := range []string{"jupiter", "dflow"} {
		path := map[string]string{"jupiter": "/swap/v2/build", "dflow": "/order"}[name]
		if status, answer := callHandler(t, keyed(name, testMarket()), http.MethodGet, path+query(), ""); status != http.StatusBadRequest {
			t.Errorf("%s without a ledger: HTTP %d %v", name, status, answer)
		}
	}
}

// TestJupiterBuilds compares the members of an answer with those that Jupiter documents, and checks the bid per level:
// github.com/jup-ag/docs, openapi-spec/swap/v2/swap.yaml, GetBuild.
func TestJupiterBuilds(t *testing.T) {
	documented := map[string]any{
		"inputMint": "", "outputMint": "", "inAmount": "", "outAmount": "", "otherAmountThreshold": "", "swapMode": "",
		"slippageBps": 1.0, "priceImpactPct": "", "routePlan": nil, "computeBudgetInstructions": nil, "setupInstructions": nil,
		"swapInstruction": nil, "cleanupInstruction": nil, "otherInstructions": nil, "tipInstruction": nil,
		"addressesByLookupTableAddress": nil, "blockhashWithMetadata": nil,
	}
	bids := map[string]string{}
	for _, level := range []string{"medium", "high", "veryHigh"} {
		_, got := callHandler(t, solanaVenue("jupiter"), http.MethodGet,
			"/swap/v2/build"+query("taker", trader.Key.String(), "computeUnitPricePercentile", level), "")
		sameMembers(t, "build", got, documented)
		swap, _ := got["swapInstruction"].(map[string]any)
		if swap["programId"] != solana.Jupiter().String() || got["cleanupInstruction"] == nil {
			t.Errorf("swap %v, cleanup %v, want Jupiter's program and a closed account", swap, got["cleanupInstruction"])
		}
		bids[level] = got["computeBudgetInstructions"].([]any)[0].(map[string]any)["data"].(string)
	}
	if bids["medium"] == bids["high"] || bids["high"] == bids["veryHigh"] {
		t.Errorf("prices of compute units: %v", bids)
	}
}

func TestDFlowDialect(t *testing.T) {
	if status, answer := callHandler(t, Handlers(Market{})["dflow"], http.MethodGet, "/order"+query(), ""); status != http.StatusUnauthorized {
		t.Errorf("without a key: HTTP %d %v, want 401", status, answer)
	}
	h := solanaVenue("dflow")
	for name, row := range map[string]struct{ query, code string }{
		"no amount":       {query("amount", "1.5"), "invalid_request"},
		"unknown mint":    {query("inputMint", trader.Key.String()), "route_not_found"},
		"no mint":         {query("outputMint", ""), "invalid_request"},
		"no pools":        {query("inputMint", solana.Tokens[4].Mint.String()), "route_not_found"},
		"nobody":          {query("userPublicKey", "me"), "invalid_request"},
		"no destination":  {query("userPublicKey", trader.Key.String(), "destinationWallet", "you"), "invalid_request"},
		"two bids":        {query("userPublicKey", trader.Key.String(), "prioritizationFeeLamports", "high", "computeUnitPriceMicroLamports", "1"), "invalid_request"},
		"a strange level": {query("userPublicKey", trader.Key.String(), "prioritizationFeeLamports", "extreme"), "invalid_request"},
	} {
		status, answer := callHandler(t, h, http.MethodGet, "/order"+row.query, "")
		if status != http.StatusBadRequest || answer["code"] != row.code || answer["msg"] == "" {
			t.Errorf("%s: HTTP %d %v, want 400 %s", name, status, answer, row.code)
		}
	}
	_, price := callHandler(t, h, http.MethodGet, "/order"+query("slippageBps", "auto"), "")
	if price["transaction"] != nil || price["executionMode"] != "sync" || price["minOutAmount"] != price["otherAmountThreshold"] {
		t.Errorf("price without a wallet = %v", price)
	}
	bids := map[string]float64{}
	for _, level := range []string{"auto", "medium", "high", "veryHigh", "disabled", "700"} {
		_, order := callHandler(t, h, http.MethodGet, "/order"+query("userPublicKey", trader.Key.String(), "prioritizationFeeLamports", level), "")
		if wire, err := base64.StdEncoding.DecodeString(order["transaction"].(string)); err != nil || len(wire) > 1232 {
			t.Errorf("%s: transaction of %d bytes, %v", level, len(wire), err)
		}
		bids[level] = order["prioritizationFeeLamports"].(float64)
	}
	if bids["auto"] != bids["medium"] || bids["medium"] >= bids["high"] || bids["high"] >= bids["veryHigh"] || bids["disabled"] != 0 || bids["700"] > 700 || bids["700"] < 690 {
		t.Errorf("lamports for priority: %v", bids)
	}
}

// sameMembers requires both objects to have the same members, of the same type unless one is null.
func sameMembers(t *testing.T, what string, got, want map[string]any) {
	t.Helper()
	kind := func(value any) string {
		switch value.(type) {
		case string:
			return "text"
		case float64:
			return "number"
		case bool:
			return "truth"
		}
		return ""
	}
	for name, value := range want {
		mine, has := got[name]
		if !has || kind(mine) != kind(value) {
			t.Errorf("%s.%s = %v, the real one has %v", what, name, mine, value)
		}
	}
	for name := range got {
		if _, has := want[name]; !has {
			t.Errorf("%s has %q, which the real one has not", what, name)
		}
	}
}
