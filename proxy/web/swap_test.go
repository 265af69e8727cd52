package web

import (
	"io"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/token"
)

func TestSwapPageTellsWhoWonAndWhyOthersDidNot(t *testing.T) {
	explanation := []byte(`{"execution":"router","to":"0x","amount":"1000000","minAmount":"990000","protocolFee":"800","aggregators":[
		{"name":"first","execution":"router","verdict":"won","tookMs":12.4,"quotedAmount":"1000800","amount":"1000000","gas":1,"simulated":true},
		{"name":"second","execution":"direct","verdict":"outbid","tookMs":80,"quotedAmount":"990000","amount":"990000","gas":1,"simulated":false},
		{"name":"third","execution":"direct","verdict":"refused","tookMs":3,"quotedAmount":"5","amount":"5","gas":1,"simulated":false,"reason":"another recipient"},
		{"name":"fourth","execution":"direct","verdict":"silent","tookMs":2500}]}`)
	pages := New(explored())
	page := render(t, func(to io.Writer) error {
		return pages.Swap(to, Swap{
			Form: url.Values{"chainId": {"1"}}, Explanation: explanation, Out: token.Token{Symbol: "USDC", Decimals: 6},
			In: token.Token{Symbol: "ETH", Decimals: 18}, AmountIn: chain.NewAmount(1e17), Path: "/v1.0/chain/estimation?chainId=1&tokenIn=0x", Origin: "https://gate.example",
		})
	})
	plain := text(page)
	for _, want := range []string{
		"0.1 ETH on Ethereum buys", "1 USDC at least 0.99 USDC, after a protocol fee of 0.0008 USDC",
		"first chosen simulated 1 best quote 12 ms", "second 0.99 1.00 % below 80 ms via its own router",
		"third refused another recipient", "fourth no quote in time",
		"curl 'https://gate.example/v1.0/chain/estimation?chainId=1&amp;tokenIn=0x'",
	} {
		if !strings.Contains(plain, want) {
			t.Errorf("the page lacks %q: %s", want, plain)
		}
	}
	if widths := regexp.MustCompile(`class="value" width="([0-9.]+)%"`).FindAllStringSubmatch(page, -1); len(widths) != 2 || widths[0][1] != "100.0" || widths[1][1] != "20.0" {
		t.Errorf("bars of %v percent, want 100 and 20: one percent below on a scale of one and a quarter", widths)
	}
}
