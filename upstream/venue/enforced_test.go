package venue

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/big"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/internal/must"
	"crossgate/internal/recorded"
	"crossgate/quote"
)

// TestRecordedCallsEnforce reads what the venues' recorded transactions make their routers enforce.
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
		// The minimum in the calldata, 255127572378335067, includes a fee of 0.1 % and one unit that stays.
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

// TestCallsThatNameNoMinimumAreNotKnown: the guard knows nothing that the router enforces for these recorded calls.
func TestCallsThatNameNoMinimumAreNotKnown(t *testing.T) {
	ethereum, _ := chain.Documented().Chain(chain.Ethereum)
	for file, venue := range map[string]string{
		"okx.market_order.0.cow.json": okx.Name, // a token known only to the pool
	} {
		if got, err := profileOf(t, venue).Read(ethereum, recordedCall(t, file)); err == nil {
			t.Errorf("%s: %+v, want an error", file, got)
		}
	}
	if _, err := profileOf(t, enso.Name).Read(ethereum, quote.Tx{Data: []byte{0xb9, 0x4c, 0x36, 0x09}}); !errors.Is(err, errUnknownFunction) {
		t.Errorf("routeSingle of Enso: %v, want that it is not known", err)
	}
}

// recordedCall returns the longest hex text of a recording, which is its calldata.
func recordedCall(t *testing.T, file string) quote.Tx {
	t.Helper()
	var body json.RawMessage
	recorded.JSON(t, "recorded/venues/"+file, &body)
	longest := ""
	for _, text := range regexp.MustCompile(`"0x[0-9a-fA-F]{100,}"`).FindAllString(string(body), -1) {
		if len(text) > len(longest) {
			longest = text
		}
	}
	return quote.Tx{Data: must.Get(hex.DecodeString(strings.TrimPrefix(strings.Trim(longest, `"`), "0x")))(t)}
}

// TestV3CallsThatAreNotOursAreRefused covers everything that a multicall of SwapRouter02 can do.
func TestV3CallsThatAreNotOursAreRefused(t *testing.T) {
	ethereum, _ := chain.Documented().Chain(chain.Ethereum)
	wrapped, coin, stranger := ethereum.WrappedCoin, chain.NativeCoin(chain.EVM), addressOf(refinedIn)
	in, out, payee := addressOf(refinedIn), addressOf(refinedOut), addressOf(refinedPayee)
	hops := func(stops ...chain.Address) []byte {
		return path{stops: stops, fees: make([]uint32, len(stops)-1)}.packed()
	}
	swap := func(path []byte, recipient chain.Address) []byte {
		return v3Swap.Call(words.Tuple{path, recipient, refinedMillion, refined})
	}
	unwrap := v3Unwrap.Call(refined, payee)
	for _, row := range []struct {
		name    string
		value   chain.Amount
		calls   words.List
		in, out chain.Address
		refused bool
	}{
		{"a swap", chain.Amount{}, words.List{swap(hops(in, out), payee)}, in, out, false},
		{"three stops", chain.Amount{}, words.List{swap(hops(in, wrapped, out), payee)}, in, out, false},
		{"the coin in", refinedMillion, words.List{swap(hops(wrapped, out), payee)}, coin, out, false},
		{"the wrapped coin in", chain.Amount{}, words.List{swap(hops(wrapped, out), payee)}, wrapped, out, false},
		{"a part of the coin in", chain.NewAmount(1), words.List{swap(hops(wrapped, out), payee)}, wrapped, out, false},
		{"unwrapped", chain.Amount{}, words.List{swap(hops(in, wrapped), routerItself), unwrap}, in, coin, false},
		{"nothing", chain.Amount{}, nil, coin, coin, true},
		{"two swaps", chain.Amount{}, words.List{swap(hops(in, out), payee), swap(hops(in, out), payee)}, coin, coin, true},
		{"more behind", chain.Amount{}, words.List{swap(hops(in, wrapped), routerItself), unwrap, unwrap}, coin, coin, true},
		{"the unwrapping alone", chain.Amount{}, words.List{unwrap}, coin, coin, true},
		{"a path of one stop", chain.Amount{}, words.List{swap(hops(in), payee)}, coin, coin, true},
		{"a path that ends early", chain.Amount{}, words.List{swap(hops(in, out)[:42], payee)}, coin, coin, true},
		{"no path", chain.Amount{}, words.List{swap(nil, payee)}, coin, coin, true},
		{"a long path that ends early", chain.Amount{}, words.List{swap(hops(in, wrapped, out)[:65], payee)}, coin, coin, true},
		{"another token and unwrapped", chain.Amount{}, words.List{swap(hops(in, out), routerItself), unwrap}, coin, coin, true},
		{"paid to a stranger, unwrapped", chain.Amount{}, words.List{swap(hops(in, wrapped), stranger), unwrap}, coin, coin, true},
	} {
		got, err := readV3Call(ethereum, quote.Tx{Data: v3Multicall.Call(0, row.calls), Value: row.value})
		want := quote.Call{TokenIn: row.in, TokenOut: row.out, AmountIn: refinedMillion, MinOut: refined, Payee: payee}
		if row.refused != (err != nil) || !row.refused && got != want {
			t.Errorf("%s: %+v, %v", row.name, got, err)
		}
	}
}

// TestEnsoPaysWhomItsCallNames reads a call for each kind of token on either side.
func TestEnsoPaysWhomItsCallNames(t *testing.T) {
	word := func(n *big.Int) []byte { return n.FillBytes(make([]byte, 32)) }
	token := func(of common.Address, amount *big.Int) []byte {
		return append(common.LeftPadBytes(of.Bytes(), 32), word(amount)...)
	}
	coin, in, out := chain.NativeCoin(chain.EVM), addressOf(refinedIn), addressOf(refinedOut)
	for _, row := range []struct {
		kindIn, kindOut uint8
		dataIn, dataOut []byte
		in, out         chain.Address
	}{
		{1, 1, token(refinedIn, refinedAmount), token(refinedOut, refinedMinimum), in, out},
		{0, 1, word(refinedAmount), token(refinedOut, refinedMinimum), coin, out},
		{1, 0, token(refinedIn, refinedAmount), word(refinedMinimum), in, coin},
		{2, 1, token(refinedIn, refinedAmount), token(refinedOut, refinedMinimum), chain.Address{}, out},
		{1, 1, word(refinedAmount), token(refinedOut, refinedMinimum), chain.Address{}, out},
		{1, 0, token(refinedIn, refinedAmount), token(refinedOut, refinedMinimum), in, chain.Address{}},
	} {
		for _, m := range ensoSafe {
			data := m.encode(t, arguments{"inKind": row.kindIn, "in": row.dataIn, "outKind": row.kindOut, "out": row.dataOut, "payee": refinedPayee})
			got, err := readEnsoCall(chain.Chain{}, quote.Tx{Data: data})
			want := quote.Call{TokenIn: row.in, TokenOut: row.out, AmountIn: refinedMillion, MinOut: refined, Payee: addressOf(refinedPayee)}
			if isRefused := row.in.IsAbsent() || row.out.IsAbsent(); isRefused != (err != nil) || !isRefused && got != want {
				t.Errorf("types %d and %d: %+v, %v, want %+v", row.kindIn, row.kindOut, got, err, want)
			}
		}
	}
}

// TestInputGoesToSettlersAlone uses calls of the AllowanceHolder to a Settler of the registry, and to others.
func TestInputGoesToSettlersAlone(t *testing.T) {
	ethereum, _ := chain.Documented().Chain(chain.Ethereum)
	today, before, stranger := common.HexToAddress("0x5e7"), common.HexToAddress("0x5e6"), common.HexToAddress("0xbad")
	registry := func(_ context.Context, _ chain.ID, calls []chain.ContractCall) ([][]byte, error) {
		return [][]byte{common.LeftPadBytes(today.Bytes(), 32), common.LeftPadBytes(before.Bytes(), 32)}[:len(calls)], nil
	}
	for _, row := range []struct {
		name             string
		operator, target common.Address
		isBuilt, isRead  bool
	}{
		{"the Settler of today", today, today, true, true},
		{"the one before", before, before, true, true},
		{"a stranger", stranger, stranger, false, true},
		{"a stranger who may take the input", stranger, today, true, false},
		{"the zero address", common.Address{}, common.Address{}, false, false},
	} {
		var tx quote.Tx
		for _, inner := range zeroExSettler {
			for _, m := range zeroExHolder {
				tx.Data = m.refinedCall(t, arguments{"operator": row.operator, "payee": row.target, "data": inner.refinedCall(t, nil)})
			}
		}
		v := &zeroExVenue{aggregator: &aggregator{Options: Options{Contracts: registry, Now: time.Now}}}
		if err := v.checkCall(t.Context(), chain.Ethereum, tx); row.isBuilt != (err == nil) || err != nil && !errors.Is(err, quote.ErrRefused) {
			t.Errorf("%s: %v", row.name, err)
		}
		want := quote.Call{TokenIn: addressOf(refinedIn), TokenOut: addressOf(refinedOut), AmountIn: refinedMillion, MinOut: refined, Payee: addressOf(refinedPayee)}
		if got, err := readZeroExCall(ethereum, tx); row.isRead != (err == nil) || err == nil && got != want {
			t.Errorf("%s: read %+v, %v", row.name, got, err)
		}
	}
}
