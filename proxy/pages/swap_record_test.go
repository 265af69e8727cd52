package pages

import (
	"io"
	"math/big"
	"strings"
	"testing"
)

// swapped is a swap of 0.5 ETH for 1,500 USDC on Base.
const swapped = `{"swapId":{"stringValue":"0x5a"},"chainId":{"stringValue":"8453"},"transactionHash":{"stringValue":"0x12"},
	"tokenIn":{"tokenAddress":{"stringValue":"0x0000000000000000000000000000000000000000"},"amount":{"stringValue":"500000000000000000"},
		"metadata":{"decimals":18,"name":"Ether","symbol":"ETH"}},
	"tokenOut":{"tokenAddress":{"stringValue":"0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"},"amount":{"stringValue":"1500000000"},
		"metadata":{"decimals":6,"name":"USD Coin","symbol":"USDC"}}}`

func TestSwapRecordSaysWhatItIsWorth(t *testing.T) {
	pages := NewViews(explored())
	page := text(render(t, func(to io.Writer) error {
		return pages.SwapRecord(to, SwapRecord{Record: []byte(swapped), In: big.NewRat(3200, 1), Now: noon})
	}))
	for _, want := range []string{"0.5 ETH Ether, $1,600.00 now", "1,500 USDC USD Coin, no price now", "Rate 1 ETH for 3,000 USDC, 1 USDC for 0.000333333 ETH"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q: %s", want, page)
		}
	}
	in, out := SwapSides([]byte(swapped))
	if in != (Side{8453, "0x0000000000000000000000000000000000000000"}) || out != (Side{8453, "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"}) {
		t.Errorf("its sides are %v and %v", in, out)
	}
}
