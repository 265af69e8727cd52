package venue

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/quote"
)

// TestWhatStandsBehindTheArgumentsIsKnown appends bytes to calls of every function that transactions may call directly.
// Zeros that fill up a word, and tags that are known, are all that passes.
func TestWhatStandsBehindTheArgumentsIsKnown(t *testing.T) {
	for name, of := range map[string]callReader{
		"1inch": oneInch.functions, "enso": ensoSafe, "kyberswap": kyber.functions, "lifi": lifi.functions, "okx": okx.functions,
		"openocean": openOcean.functions, "sushiswap": sushi.functions, "velora": velora.functions, "0x": zeroExHolder,
		"0x, settler": zeroExSettler, "relay": relayTokenCall, "relay, coin": relayCoinCall, "sunio": sunioCalls, "pairs": v2Calls,
		"routes": solidlyCalls, "wrap": wrapCalls,
	} {
		tag := map[string]int{"1inch": 4, "relay": 32, "relay, coin": 32}[name]
		for selector, f := range of {
			data := f.encode(t, selector)
			for _, size := range []int{1, 4, 31, 32, 33, 64, 96} {
				more := append(bytes.Clone(data), bytes.Repeat([]byte{0xba}, size)...)
				_, _, err := of.unpack(more)
				if err == nil && f.behind != nil {
					err = f.behind(more, f.rest(more[4:]), &quote.Call{})
				}
				if (err != nil) != (size > tag) {
					t.Errorf("%s by %.20s… with %d bytes behind: %v", name, f.signature, size, err)
				}
			}
			if rest := f.rest(data[4:]); len(rest) > 0 {
				t.Errorf("%s by %.20s…: %x is said to stand behind", name, f.signature, rest)
			}
		}
	}
}

// okxWord is a flag of 12 digits, a rate and an address.
func okxWord(flag string, rate uint64, of common.Address) []byte {
	return append(append(common.FromHex(flag), binary.BigEndian.AppendUint64(nil, rate)[2:]...), of.Bytes()...)
}

// TestSharesThatOKXTakesAreRead has shares of either side behind the arguments, for one receiver and for two.
func TestSharesThatOKXTakesAreRead(t *testing.T) {
	const one, two, output, outputs, many = "3ca20afc2aaa", "22220afc2aaa", "3ca20afc2bbb", "22220afc2bbb", "88880afc2aaa"
	in, other := common.LeftPadBytes(refinedIn.Bytes(), 32), common.LeftPadBytes(refinedOut.Bytes(), 32)
	tenth := func(flag string, of common.Address) []byte { return okxWord(flag, 1_000_000, of) } // 0.1 %
	affiliate := func(of common.Address) quote.Affiliate {
		return quote.Affiliate{Percent: decimal.RequireFromString("0.1"), Recipient: chain.NewAddress(of.Bytes())}
	}
	for _, row := range []struct {
		name           string
		behind         [][]byte
		amount         uint64 // that is taken of a million that is swapped; zero: refused
		shares, second quote.Affiliate
	}{
		{"nothing", nil, 1_000_000, quote.Affiliate{}, quote.Affiliate{}},
		{"a share", [][]byte{in, tenth(one, refinedOther)}, 1_001_001, affiliate(refinedOther), quote.Affiliate{}},
		{"two shares", [][]byte{tenth(two, refinedPayee), in, tenth(two, refinedOther)}, 1_002_004, affiliate(refinedOther), affiliate(refinedPayee)},
		{"a share of the output", [][]byte{in, tenth(output, refinedOther)}, 0, quote.Affiliate{}, quote.Affiliate{}},
		{"shares of the output", [][]byte{tenth(outputs, refinedPayee), in, tenth(outputs, refinedOther)}, 0, quote.Affiliate{}, quote.Affiliate{}},
		{"a share of another token", [][]byte{other, tenth(one, refinedOther)}, 0, quote.Affiliate{}, quote.Affiliate{}},
		{"two kinds of share", [][]byte{tenth(one, refinedPayee), in, tenth(two, refinedOther)}, 0, quote.Affiliate{}, quote.Affiliate{}},
		{"three shares", [][]byte{in, tenth(two, refinedPayee), in, tenth(two, refinedOther)}, 0, quote.Affiliate{}, quote.Affiliate{}},
		{"many shares", [][]byte{in, tenth(many, refinedOther)}, 0, quote.Affiliate{}, quote.Affiliate{}},
		{"more than the router gives", [][]byte{in, okxWord(one, 30_000_001, refinedOther)}, 0, quote.Affiliate{}, quote.Affiliate{}},
		{"a share without a token", [][]byte{tenth(one, refinedOther)}, 0, quote.Affiliate{}, quote.Affiliate{}},
	} {
		for selector, f := range okx.functions {
			if f.payee == nil {
				f.payee = position{0} // the number of the order, which is passed over
			}
			inArguments := []argument{{f.tokenIn, refinedIn.Big()}, {f.tokenOut, refinedOut}, {f.amountIn, refinedAmount}, {f.minOut, refinedMinimum}}
			data := append(f.encode(t, selector, inArguments...), bytes.Join(row.behind, nil)...)
			got, err := okx.functions.read(chain.Chain{}, quote.Tx{Data: data})
			isRefused := row.amount == 0
			if isRefused != (err != nil) || !isRefused && (got.AmountIn != chain.NewAmount(row.amount) || !same(got.Affiliate, row.shares) || !same(got.Second, row.second)) {
				t.Errorf("%s by %.20s…: %+v, %v", row.name, f.signature, got, err)
			}
		}
	}
	for selector, f := range okx.functions { // the last word, though it is an argument's
		hidden := argument{position{len(f.inputs) - 1, 0, 3, 0}, bytes.Join([][]byte{in, tenth(one, refinedOther)}, nil)}
		if len(f.inputs) > 4 {
			continue
		}
		if got, err := okx.functions.read(chain.Chain{}, quote.Tx{Data: f.encode(t, selector, hidden)}); err == nil {
			t.Errorf("a share within the last argument by %.20s…: %+v, want that it is refused", f.signature, got)
		}
	}
}

func same(a, b quote.Affiliate) bool { return a.Percent.Equal(b.Percent) && a.Recipient == b.Recipient }
