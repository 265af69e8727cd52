package venues

import (
	"context"
	"encoding/json"
	"math/big"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"crossgate/internal/recorded"
	"crossgate/sandbox/solana"
)

const (
	zero   = "0x0000000000000000000000000000000000000000"
	weth   = "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2"
	usdc   = "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"
	user   = "0x1111111111111111111111111111111111111111"
	coinAt = "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE"
	ether  = "1000000000000000000"
)

func testMarket() Market {
	ofUSDC, ofCoin := big.NewInt(30_000_000_000_000), new(big.Int).Exp(big.NewInt(10), big.NewInt(22), nil)
	return Market{
		Pools: []Pool{{Chain: 1, Address: "0x00000000000000000000000000000000000000d1", TokenA: usdc, TokenB: weth, FeeBps: 30}},
		Tokens: []Token{
			{Chain: 1, Address: zero, Symbol: "ETH", Decimals: 18, USD: 3000},
			{Chain: 1, Address: weth, Symbol: "WETH", Decimals: 18, USD: 3000},
			{Chain: 1, Address: usdc, Symbol: "USDC", Decimals: 6, USD: 1},
		},
		Wrapped:  map[uint64]string{1: weth},
		Reserves: func(context.Context, uint64, string) (a, b *big.Int, err error) { return ofUSDC, ofCoin, nil },
		Now:      func() time.Time { return time.Unix(1_767_355_200, 0) },
	}
}

// TestAnswersHaveTheRecordedMembers compares the names of members with those of a recorded answer of Velora, which is
// not in this repository.
func TestAnswersHaveTheRecordedMembers(t *testing.T) {
	var known map[string]any
	recorded.JSON(t, "recorded/venues/velora.native-input.spandex.json", &known)
	answer := callHandler(t, Handlers(testMarket())["velora"], "/swap?srcToken="+coinAt+"&srcDecimals=18&destToken="+usdc+
		"&destDecimals=6&version=6.2&network=1&amount="+ether+"&slippage=100&userAddress="+user)
	for _, part := range []string{"priceRoute", "txParams"} {
		want := known[part].(map[string]any)
		delete(want, "blockNumber") // the market has no blocks
		sameMembers(t, part, answer[part].(map[string]any), want)
	}
}

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
