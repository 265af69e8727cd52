package pages

import (
	"strings"
	"testing"
)

func TestASwapCanBeSaidInOneLine(t *testing.T) {
	for text, want := range map[string]swapWords{
		"0.1 ETH to USDC":                       {Amount: "0.1", In: "ETH", Out: "USDC"},
		" swap 0.1ETH -> usdc  on  Base ":       {Amount: "0.1", In: "ETH", Out: "usdc", Chain: "Base"},
		"max USD Coin into Wrapped Ether":       {Amount: "max", In: "USD Coin", Out: "Wrapped Ether"},
		"-5 DAI to ETH for 0xd2 on BNB Chain":   {Amount: "-5", In: "DAI", Out: "ETH", Chain: "BNB Chain", Recipient: "0xd2"},
		"1e3 WETH to USDC":                      {Amount: "1", In: "e3 WETH", Out: "USDC"}, // told as a token that nobody knows
		"1,5 ETH to 0xA0b86991c6218b36c1d19D4a": {Amount: "1,5", In: "ETH", Out: "0xA0b86991c6218b36c1d19D4a"},
	} {
		if got, ok := ParseSwapWords(text); !ok || got != want {
			t.Errorf("%q = %+v, %t, want %+v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "swap", "ETH to USDC", "0.1 ETH", "0.1 ETH to", "0.1 to USDC", "0xc1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1", "USD Coin", "1inch", "8453"} {
		if got, ok := ParseSwapWords(text); ok {
			t.Errorf("%q = %+v, want no swap", text, got)
		}
	}
}

func FuzzSwapWords(f *testing.F) {
	f.Add("0.1 ETH to USDC on Base for 0x00")
	f.Add("\x000→to to to on on for")
	f.Fuzz(func(t *testing.T, text string) {
		w, ok := ParseSwapWords(text)
		if !ok {
			return
		}
		for _, part := range []string{w.Amount, w.In, w.Out, w.Chain, w.Recipient} {
			if len(part) > len(text) || strings.TrimSpace(part) != part {
				t.Errorf("%q has a part %q", text, part)
			}
		}
		if w.Amount == "" || w.In == "" || w.Out == "" {
			t.Errorf("%q is %+v, a swap without one of its parts", text, w)
		}
	})
}
