package venues

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
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

// solanaVenue is a venue over pools of the coin and USDC.
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

// callHandler sends a request and decodes the answer.
func callHandler(t *testing.T, h http.Handler, method, target, body string) (status int, answer map[string]any) {
	t.Helper()
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, httptest.NewRequest(method, target, strings.NewReader(body)))
	if err := json.Unmarshal(recorder.Body.Bytes(), &answer); err != nil {
		t.Fatalf("%s %s answers %q: %v", method, target, recorder.Body, err)
	}
	return recorder.Code, answer
}

// query is a query for a swap of coins into USDC, changed by names and values.
func query(changes ...string) string {
	query := url.Values{"inputMint": {wrappedMint}, "outputMint": {usdcMint}, "amount": {"1000000000"}, "slippageBps": {"50"}}
	for n := 0; n < len(changes); n += 2 {
		query.Set(changes[n], changes[n+1])
	}
	return "?" + query.Encode()
}

func TestJupiterDialect(t *testing.T) {
	h := solanaVenue("jupiter")
	for name, row := range map[string]struct{ query, says string }{
		"no amount":        {query("amount", ""), "amount"},
		"too many bits":    {query("amount", "18446744073709551616"), "amount"},
		"no mint":          {query("inputMint", "0x12"), "mint"},
		"unknown mint":     {query("inputMint", trader.Key.String()), "TOKEN_NOT_TRADABLE"},
		"no pools":         {query("inputMint", solana.Tokens[4].Mint.String()), "COULD_NOT_FIND_ANY_ROUTE"},
		"excluded pools":   {query("excludeDexes", "GoonFi,Token Swap"), "COULD_NOT_FIND_ANY_ROUTE"},
		"the same mint":    {query("outputMint", wrappedMint), "CIRCULAR_ARBITRAGE_IS_DISABLED"},
		"slippage of more": {query("slippageBps", "10001"), "slippageBps"},
		"a platform fee":   {query("platformFeeBps", "20"), "platform"},
		"exact output":     {query("swapMode", "ExactOut"), "ExactOut"},
	} {
		status, answer := callHandler(t, h, http.MethodGet, "/swap/v1/quote"+row.query, "")
		if text, _ := json.Marshal(answer); status != http.StatusBadRequest || !strings.Contains(string(text), row.says) {
			t.Errorf("%s: HTTP %d %s, want 400 about %s", name, status, text, row.says)
		}
	}
	for _, name := range []string{"jupiter", "dflow"} {
		path := map[string]string{"jupiter": "/swap/v1/quote", "dflow": "/order"}[name]
		if status, answer := callHandler(t, keyed(name, testMarket()), http.MethodGet, path+query(), ""); status != http.StatusBadRequest {
			t.Errorf("%s without a ledger: HTTP %d %v", name, status, answer)
		}
	}
}

func TestJupiterBuildsTheQuoteItIsGiven(t *testing.T) {
	h := solanaVenue("jupiter")
	_, quoted := callHandler(t, h, http.MethodGet, "/swap/v1/quote"+query(), "")
	order := func(changes map[string]any) string {
		body := map[string]any{"userPublicKey": trader.Key, "quoteResponse": quoted}
		for name, value := range changes {
			body[name] = value
		}
		text, _ := json.Marshal(body)
		return string(text)
	}
	level := func(name string, most int) map[string]any {
		return map[string]any{"prioritizationFeeLamports": map[string]any{
			"priorityLevelWithMaxLamports": map[string]any{"priorityLevel": name, "maxLamports": most},
		}}
	}
	bids := map[string]float64{}
	for name, changes := range map[string]map[string]any{
		"usual": {}, "medium": level("medium", 1_000_000), "high": level("high", 1_000_000), "veryHigh": level("veryHigh", 1_000_000),
		"capped": level("veryHigh", 100), "exact": {"prioritizationFeeLamports": 700}, "none": {"prioritizationFeeLamports": 0},
		"priced": {"computeUnitPriceMicroLamports": 20_000},
	} {
		status, built := callHandler(t, h, http.MethodPost, "/swap/v1/swap", order(changes))
		if status != http.StatusOK || built["simulationError"] != nil {
			t.Fatalf("%s: HTTP %d %v", name, status, built)
		}
		if wire, err := base64.StdEncoding.DecodeString(built["swapTransaction"].(string)); err != nil || len(wire) > 1232 {
			t.Errorf("%s: transaction of %d bytes, %v", name, len(wire), err)
		}
		bids[name] = built["prioritizationFeeLamports"].(float64)
	}
	if bids["usual"] != bids["medium"] || bids["medium"] >= bids["high"] || bids["high"] >= bids["veryHigh"] || bids["high"] != bids["priced"] ||
		bids["capped"] > 100 || bids["exact"] > 700 || bids["exact"] < 690 || bids["none"] != 0 {
		t.Errorf("lamports for priority: %v", bids)
	}
	for name, changes := range map[string]map[string]any{
		"nobody":            {"userPublicKey": "me"},
		"no quote":          {"quoteResponse": nil},
		"two bids":          {"prioritizationFeeLamports": 1, "computeUnitPriceMicroLamports": 1},
		"an unknown level":  level("extreme", 1),
		"an absurd bid":     {"prioritizationFeeLamports": 20_000_000_000},
		"a foreign account": {"destinationTokenAccount": usdcMint},
	} {
		if status, answer := callHandler(t, h, http.MethodPost, "/swap/v1/swap", order(changes)); status != http.StatusBadRequest || answer["error"] == "" {
			t.Errorf("%s: HTTP %d %v", name, status, answer)
		}
	}
	_, poor := callHandler(t, h, http.MethodPost, "/swap/v1/swap", order(map[string]any{"userPublicKey": usdcMint}))
	if poor["simulationError"] == nil || poor["swapTransaction"] == "" {
		t.Errorf("for a wallet without anything: %v, want a transaction that is said to fail", poor)
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

// TestJupitersQuoteHasTheRecordedMembers holds the names of members against a recorded answer, which does not lie in
// this repository.
func TestJupitersQuoteHasTheRecordedMembers(t *testing.T) {
	path := filepath.Join("..", "..", "..", "shared", "recorded", "chains", "jupiter-swap-v1-quote.json")
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		t.Skipf("recorded venue answer not present: %s; it is in the folder shared, which lies beside the repository", path)
	}
	var recorded struct {
		Response struct{ Body map[string]any }
	}
	if err := errors.Join(err, json.Unmarshal(raw, &recorded)); err != nil {
		t.Fatal(err)
	}
	_, got := callHandler(t, solanaVenue("jupiter"), http.MethodGet, "/swap/v1/quote"+query(), "")
	sameMembers(t, "quote", got, recorded.Response.Body)
	step := func(quote map[string]any) map[string]any { return quote["routePlan"].([]any)[0].(map[string]any) }
	sameMembers(t, "step", step(got), step(recorded.Response.Body))
	sameMembers(t, "pool", step(got)["swapInfo"].(map[string]any), step(recorded.Response.Body)["swapInfo"].(map[string]any))
}

// sameMembers wants every member of the one in the other, and of the same kind where neither is null.
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
