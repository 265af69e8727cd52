package venues

import (
	"context"
	"math/big"
	"testing"
	"time"

	"crossgate/internal/recorded"
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
