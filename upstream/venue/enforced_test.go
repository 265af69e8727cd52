package venue

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/quote"
)

// TestRecordedCallsEnforce reads what recorded transactions of the venues hold their routers to.
func TestRecordedCallsEnforce(t *testing.T) {
	const (
		coin, ether = "0x0000000000000000000000000000000000000000", "1000000000000000000"
		usdc, weth  = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", "0x4200000000000000000000000000000000000006"
		user        = "0xdead00000000000000000000000000000000beef"
		polUSDC     = "0x3c499c542cef5e3811e1192ce70d8cc03d5c3359"
		hardhat     = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266"
	)
	for _, c := range []struct {
		venue, file            string
		in, out, amount, least string
		payee                  string // empty: the caller
	}{
		{kyber.Name, "kyberswap.kyber1.spandex.json", usdc, weth, "500000000", "118668217296301967", user},
		{kyber.Name, "kyberswap.native-input.spandex.json", coin, usdc, ether, "2023568684", user},
		// 0.1 % of fee, and one unit that stays, are not in the minimum that the calldata names: 255127572378335067.
		{velora.Name, "velora.fees.spandex.json", usdc, weth, "500000000", "254872444805956731", ""},
		{velora.Name, "velora.native-input.spandex.json", coin, usdc, ether, "2022204917", ""},
		{zeroEx.Name, "0x.native-input.spandex.json", coin, usdc, ether, "2031683820", user},
		{lifi.Name, "lifi.native-input.spandex.json", coin, usdc, ether, "2016443703", user},
		{sushi.Name, "sushi.swap-v7.137-usdc-to-native.json", polUSDC, coin, "1000000", "4134145128690657991", hardhat},
	} {
		tx := recordedCall(t, c.file)
		if c.in == coin {
			tx.Value, _ = chain.ParseAmount(c.amount)
		}
		base, _ := chain.Documented().Chain(8453)
		got, err := profileOf(t, c.venue).Read(base, tx)
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		payee := ""
		if !got.Payee.IsAbsent() {
			payee = got.Payee.String()
		}
		if got.TokenIn.String() != c.in || got.TokenOut.String() != c.out || got.AmountIn.String() != c.amount ||
			got.MinOut.String() != c.least || payee != c.payee {
			t.Errorf("%s: %s %s for %s of %s to %q", c.file, got.AmountIn, got.TokenIn, got.MinOut, got.TokenOut, payee)
		}
	}
}

// TestCallsThatNameNoMinimumAreNotKnown: of these recorded calls the router enforces nothing that is known.
func TestCallsThatNameNoMinimumAreNotKnown(t *testing.T) {
	ethereum, _ := chain.Documented().Chain(chain.Ethereum)
	for file, venue := range map[string]string{
		"relay.native-input.spandex.json": relay.Name, // all of what a swap inside has left
		"okx.market_order.0.cow.json":     okx.Name,   // a token that only the pool knows
	} {
		if got, err := profileOf(t, venue).Read(ethereum, recordedCall(t, file)); err == nil {
			t.Errorf("%s: %+v, want an error", file, got)
		}
	}
	if _, err := profileOf(t, enso.Name).Read(ethereum, quote.Tx{Data: []byte{0xb9, 0x4c, 0x36, 0x09}}); !errors.Is(err, errUnknownFunction) {
		t.Errorf("routeSingle of Enso: %v, want that it is not known", err)
	}
}

// recordedCall is the longest hex text of a recording, which is its calldata.
func recordedCall(t *testing.T, file string) quote.Tx {
	t.Helper()
	var body json.RawMessage
	recorded(t, file, &body)
	longest := ""
	for _, text := range regexp.MustCompile(`"0x[0-9a-fA-F]{100,}"`).FindAllString(string(body), -1) {
		if len(text) > len(longest) {
			longest = text
		}
	}
	data, err := hex.DecodeString(strings.TrimPrefix(strings.Trim(longest, `"`), "0x"))
	if err != nil {
		t.Fatal(err)
	}
	return quote.Tx{Data: data}
}
