package venues

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"crossgate/sandbox/solana"
)

const (
	wrappedMint = "So11111111111111111111111111111111111111112"
	usdcMint    = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
)

var trader = solana.NewAccount("trader", [32]byte{1})

// jupiterVenue returns Jupiter over pools of the coin and USDC.
func jupiterVenue() http.Handler {
	ledger := solana.New(time.Unix(1_767_355_200, 0))
	ledger.Stock(solana.NewPool(solana.Tokens[0], solana.Tokens[1], 25), 100_000_000_000_000, 15_000_000_000_000)
	ledger.Stock(solana.NewPool(solana.Tokens[0], solana.Tokens[1], 5), 10_000_000_000_000, 1_500_000_000_000)
	ledger.Fund(trader.Key, 1_000_000_000_000, 1_000_000)
	return Handlers(Market{Solana: ledger})["jupiter"]
}

// callHandler sends a request and decodes the response.
func callHandler(t *testing.T, h http.Handler, target string) (answer map[string]any) {
	t.Helper()
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, target, nil))
	if err := json.Unmarshal(recorder.Body.Bytes(), &answer); err != nil {
		t.Fatalf("GET %s answers %q: %v", target, recorder.Body, err)
	}
	return answer
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
		got := callHandler(t, jupiterVenue(), "/swap/v2/build?inputMint="+wrappedMint+"&outputMint="+usdcMint+
			"&amount=1000000000&slippageBps=50&taker="+trader.Key.String()+"&computeUnitPricePercentile="+level)
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
