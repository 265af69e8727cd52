package pages

import (
	"strings"
	"testing"
)

func TestASwapCanBeSaidInOneLine(t *testing.T) {
	for text, want := range map[string]swapWords{
		"0.1 ETH to USDC":                       {amount: "0.1", in: "ETH", out: "USDC"},
		" swap 0.1ETH -> usdc  on  Base ":       {amount: "0.1", in: "ETH", out: "usdc", chain: "Base"},
		"max USD Coin into Wrapped Ether":       {amount: "max", in: "USD Coin", out: "Wrapped Ether"},
		"-5 DAI to ETH for 0xd2 on BNB Chain":   {amount: "-5", in: "DAI", out: "ETH", chain: "BNB Chain", recipient: "0xd2"},
		"1e3 WETH to USDC":                      {amount: "1", in: "e3 WETH", out: "USDC"}, // told as a token that nobody knows
		"1,5 ETH to 0xA0b86991c6218b36c1d19D4a": {amount: "1,5", in: "ETH", out: "0xA0b86991c6218b36c1d19D4a"},
	} {
		if got, ok := parseSwapWords(text); !ok || got != want {
			t.Errorf("%q = %+v, %t, want %+v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "swap", "ETH to USDC", "0.1 ETH", "0.1 ETH to", "0.1 to USDC", "0xc1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1", "USD Coin", "1inch", "8453"} {
		if got, ok := parseSwapWords(text); ok {
			t.Errorf("%q = %+v, want no swap", text, got)
		}
	}
}

func FuzzSwapWords(f *testing.F) {
	f.Add("0.1 ETH to USDC on Base for 0x00")
	f.Add("\x000→to to to on on for")
	f.Fuzz(func(t *testing.T, text string) {
		w, ok := parseSwapWords(text)
		if !ok {
			return
		}
		for _, part := range []string{w.amount, w.in, w.out, w.chain, w.recipient} {
			if len(part) > len(text) || strings.TrimSpace(part) != part {
				t.Errorf("%q has a part %q", text, part)
			}
		}
		if w.amount == "" || w.in == "" || w.out == "" {
			t.Errorf("%q is %+v, a swap without one of its parts", text, w)
		}
	})
}
