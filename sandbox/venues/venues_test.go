package venues

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"crossgate/internal/recorded"
)

const (
	zero   = "0x0000000000000000000000000000000000000000"
	weth   = "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2"
	usdc   = "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"
	dai    = "0x6b175474e89094c44da98b954eedeac495271d0f"
	lonely = "0x00000000000000000000000000000000000a10e0"
	user   = "0x1111111111111111111111111111111111111111"
	helper = "0x3333333333333333333333333333333333333333"
	coinAt = "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE"
	ether  = "1000000000000000000"
)

// deep and shallow are pools of the coin and USDC; stable is the only pool of DAI.
var deep, shallow, stable = "0x00000000000000000000000000000000000000d1", "0x00000000000000000000000000000000000000d2", "0x00000000000000000000000000000000000000d3"

func units(whole, decimals int64) *big.Int {
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(decimals), nil)
	return scale.Mul(scale, big.NewInt(whole))
}

func testMarket() Market {
	reserves := map[string][2]*big.Int{
		deep:    {units(30_000_000, 6), units(10_000, 18)},
		shallow: {units(300_000, 6), units(100, 18)},
		stable:  {units(5_000_000, 18), units(5_000_000, 6)},
	}
	return Market{
		Pools: []Pool{
			{Chain: 1, Address: deep, TokenA: usdc, TokenB: weth, FeeBps: 30},
			{Chain: 1, Address: shallow, TokenA: usdc, TokenB: weth, FeeBps: 5},
			{Chain: 1, Address: stable, TokenA: dai, TokenB: usdc, FeeBps: 5},
		},
		Tokens: []Token{
			{Chain: 1, Address: zero, Symbol: "ETH", Decimals: 18, USD: 3000},
			{Chain: 1, Address: weth, Symbol: "WETH", Decimals: 18, USD: 3000},
			{Chain: 1, Address: usdc, Symbol: "USDC", Decimals: 6, USD: 1},
			{Chain: 1, Address: dai, Symbol: "DAI", Decimals: 18, USD: 1},
			{Chain: 1, Address: lonely, Symbol: "LONE", Decimals: 18, USD: 1},
		},
		Wrapped: map[uint64]string{1: weth},
		Reserves: func(_ context.Context, _ uint64, pool string) (a, b *big.Int, err error) {
			r, known := reserves[strings.ToLower(pool)]
			if !known {
				return nil, nil, errors.New("no such pool")
			}
			return r[0], r[1], nil
		},
		Now: func() time.Time { return time.Unix(1_767_355_200, 0) },
	}
}

// callVenue sends a request to a venue and decodes its JSON response.
func callVenue(t *testing.T, venue, method, target, body string) (status int, answer map[string]any) {
	t.Helper()
	return callHandler(t, Handlers(testMarket())[venue], method, target, body)
}

// TestDialectsRefuse has requests that each API rejects, and the member of the response that gives the reason.
func TestDialectsRefuse(t *testing.T) {
	const kyber = "/ethereum/api/v1/routes?tokenIn=" + coinAt + "&tokenOut=" + usdc
	const fee = "&isInBps=true&chargeFeeBy=currency_in"
	const velora = "/prices?srcToken=" + coinAt + "&srcDecimals=18&destToken=" + usdc + "&destDecimals=6&side=SELL&version=6.2"
	const ocean = "/v4/1/quote?inTokenAddress=" + coinAt + "&outTokenAddress=" + usdc + "&gasPriceDecimals=1000000000"
	for _, c := range []struct {
		name, venue, target string
		status              int
		member, want        string
	}{
		{"unknown chain", "kyberswap", strings.Replace(kyber, "ethereum", "atlantis", 1) + "&amountIn=1", 404, "code", ""},
		{"no amount", "kyberswap", kyber, 400, "code", "4000"},
		{"negative amount", "kyberswap", kyber + "&amountIn=-1", 400, "code", "4000"},
		{"no token", "kyberswap", "/ethereum/api/v1/routes?amountIn=1&tokenIn=" + coinAt, 400, "code", "4000"},
		{"unknown token", "kyberswap", strings.Replace(kyber, coinAt, user, 1) + "&amountIn=1", 400, "code", "4011"},
		{"no route", "kyberswap", strings.Replace(kyber, coinAt, lonely, 1) + "&amountIn=1", 400, "code", "4008"},
		{"too large", "kyberswap", kyber + "&amountIn=" + strings.Repeat("9", 60), 400, "code", "4009"},
		{"whole input as a fee", "kyberswap", kyber + "&amountIn=100&feeAmount=10000&feeReceiver=" + helper + fee, 400, "code", "4005"},
		{"two fees to one", "kyberswap", kyber + "&amountIn=100&feeAmount=10,20&feeReceiver=" + helper + fee, 400, "code", "4000"},
		{"fee without a receiver", "kyberswap", kyber + "&amountIn=100&feeAmount=10" + fee, 400, "code", "4000"},
		{"old version", "velora", strings.Replace(velora, "6.2", "5", 1) + "&network=1&amount=1", 400, "error", "version 6.2 is required"},
		{"unknown network", "velora", velora + "&network=59144&amount=1", 400, "error", "unsupported network"},
		{"no amount", "velora", velora + "&network=1", 400, "error", "invalid amount"},
		{"wrong decimals", "velora", strings.Replace(velora, "=18", "=8", 1) + "&network=1&amount=1", 400, "error", "invalid decimals"},
		{"unknown token", "velora", strings.Replace(velora, usdc, user, 1) + "&network=1&amount=1", 400, "error", veloraNoRoutes},
		{"too much impact", "velora", velora + "&network=1&amount=" + units(5000, 18).String(), 400, "error", veloraImpact},
		{"unknown chain", "openocean", strings.Replace(ocean, "/1/", "/atlantis/", 1) + "&amountDecimals=1", 200, "code", "400"},
		{"no gas price", "openocean", strings.Replace(ocean, "&gasPriceDecimals=1000000000", "", 1) + "&amountDecimals=1", 200, "code", "400"},
		{"human amount", "openocean", ocean + "&amount=1.5", 200, "code", "400"},
		{"tight slippage", "openocean", ocean + "&amountDecimals=1&slippage=0.01", 200, "code", "400"},
		{"unknown token", "openocean", strings.Replace(ocean, usdc, user, 1) + "&amountDecimals=1", 200, "code", "400"},
		{"no route", "openocean", strings.Replace(ocean, usdc, lonely, 1) + "&amountDecimals=1", 200, "code", "200"},
	} {
		status, answer := callVenue(t, c.venue, http.MethodGet, c.target, "")
		got := fmt.Sprint(answer[c.member])
		if answer[c.member] == nil {
			got = ""
		}
		if status != c.status || got != c.want || answer["data"] != nil {
			t.Errorf("%s, %s: HTTP %d %v, want %d and %s %q", c.venue, c.name, status, answer, c.status, c.member, c.want)
		}
	}
}

// TestAnswersHaveTheRecordedMembers compares the names of members with those of a recorded answer of Velora, which is
// not in this repository.
func TestAnswersHaveTheRecordedMembers(t *testing.T) {
	var known map[string]any
	recorded.JSON(t, "recorded/venues/velora.native-input.spandex.json", &known)
	_, answer := callVenue(t, "velora", http.MethodGet, "/swap?srcToken="+coinAt+"&srcDecimals=18&destToken="+usdc+
		"&destDecimals=6&version=6.2&network=1&amount="+ether+"&slippage=100&userAddress="+user, "")
	for _, part := range []string{"priceRoute", "txParams"} {
		want := known[part].(map[string]any)
		delete(want, "blockNumber") // the market has no blocks
		sameMembers(t, part, answer[part].(map[string]any), want)
	}
}
