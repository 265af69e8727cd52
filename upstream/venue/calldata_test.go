package venue

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/internal/must"
	"crossgate/quote"
)

// arguments are values by place name; the key of an unnamed place is its position.
type arguments map[any]any

// encode returns calldata with the given arguments, and zero for all others. Lists are as long as needed.
func (m *method) encode(t *testing.T, given arguments) []byte {
	t.Helper()
	inputs := m.inputs(t)
	values := make([]any, len(inputs))
	for i, input := range inputs {
		value := reflect.New(input.Type.GetType()).Elem()
		set := func(p position, is any) {
			if len(p) > 0 && p[0] == i {
				assign(value, p[1:], is)
			}
		}
		for place, is := range given {
			if at, isPosition := place.([3]int); isPosition {
				set(at[:], is)
			} else if place != "out" {
				set(m.places[place.(string)], is)
			}
		}
		if given["out"] != nil { // after the input
			set(m.places["out"], given["out"])
		}
		fillZeros(value)
		values[i] = value.Interface()
	}
	return append(m.Selector[:], must.Get(inputs.Pack(values...))(t)...)
}

// inputs returns go-ethereum's coder of the arguments.
func (m *method) inputs(t *testing.T) (inputs abi.Arguments) {
	for _, each := range marshaled(m.arguments).Components {
		inputs = append(inputs, abi.Argument{Name: each.Name, Type: must.Get(abi.NewType(each.Type, "", each.Components))(t)})
	}
	return inputs
}

func marshaled(k kind) (of abi.ArgumentMarshaling) {
	switch {
	case k.isList:
		of = marshaled(k.members[0])
		of.Type += "[]"
		return of
	case !strings.HasPrefix(k.name, "("):
		return abi.ArgumentMarshaling{Type: k.name}
	}
	for i, m := range k.members {
		of.Components = append(of.Components, marshaled(m))
		of.Components[i].Name = fmt.Sprint("member", i)
	}
	of.Type = "tuple"
	return of
}

// assign sets the member of value at a position.
func assign(value reflect.Value, at position, to any) {
	for _, i := range at {
		if value.Kind() == reflect.Struct {
			value = value.Field(i)
			continue
		}
		switch isStruct := value.Type().Elem().Kind() == reflect.Struct; {
		case i < 0 && isStruct:
			i += max(value.Len(), 1)
		case i < 0:
			i = value.Len()
		}
		for value.Len() <= i {
			value.Set(reflect.Append(value, reflect.Zero(value.Type().Elem())))
		}
		value = value.Index(i)
	}
	value.Set(reflect.ValueOf(to))
}

// fillZeros replaces missing numbers in value by zero.
func fillZeros(value reflect.Value) {
	switch {
	case value.Type() == reflect.TypeFor[*big.Int]() && value.IsNil():
		value.Set(reflect.ValueOf(new(big.Int)))
	case value.Kind() == reflect.Struct:
		for i := range value.NumField() {
			fillZeros(value.Field(i))
		}
	case value.Kind() == reflect.Slice && value.Type().Elem().Kind() != reflect.Uint8:
		for i := range value.Len() {
			fillZeros(value.Index(i))
		}
	}
}

// A swap of a million of one token for at least two million of another, and its payee.
var (
	refinedIn, refinedOut   = common.HexToAddress("0x70"), common.HexToAddress("0x71")
	refinedPayee            = common.HexToAddress("0x01")
	refinedOther            = common.HexToAddress("0x02")
	refinedAmount           = big.NewInt(1_000_000)
	refinedMinimum          = big.NewInt(2_000_000)
	refinedMillion, refined = chain.NewAmount(1_000_000), chain.NewAmount(2_000_000)
)

// refinedCall returns the calldata of that swap with changed arguments.
func (m *method) refinedCall(t *testing.T, changed arguments) []byte {
	t.Helper()
	given := arguments{
		"out": refinedOut, "payee": refinedPayee, "payeeOrCaller": refinedPayee, "amount": refinedAmount, "least": refinedMinimum, "in": refinedIn,
	}
	if strings.Contains(m.signature, "uint256 in") {
		given["in"] = refinedIn.Big()
	}
	maps.Copy(given, changed)
	return m.encode(t, given)
}

func numbers(all ...int64) []*big.Int {
	list := make([]*big.Int, len(all))
	for i, each := range all {
		list[i] = big.NewInt(each)
	}
	return list
}

func addressOf(a common.Address) chain.Address { return chain.NewAddress(a.Bytes()) }

// TestCallsThatTakeMoreAreRefused adds flags, fees and deposits to otherwise valid calls of each function.
func TestCallsThatTakeMoreAreRefused(t *testing.T) {
	receivers := []common.Address{refinedOther}
	for _, row := range []struct {
		name      string
		of        callReader
		changed   arguments
		isRefused bool
	}{
		{"kyberswap", kyber.functions, nil, false},
		{"kyberswap pays all to pools", kyber.functions, arguments{"parts": numbers(600_000, 400_000)}, false},
		{"kyberswap pays more to pools", kyber.functions, arguments{"parts": numbers(600_000, 400_001)}, true},
		{"kyberswap takes a fee and the rest", kyber.functions, arguments{"parts": numbers(999_990), "receivers": receivers, "fees": numbers(10)}, false},
		{"kyberswap takes a fee beside all", kyber.functions, arguments{"parts": numbers(1_000_000), "receivers": receivers, "fees": numbers(1)}, true},
		{"kyberswap takes a share", kyber.functions, arguments{"parts": numbers(999_000), "receivers": receivers, "fees": numbers(10), "flags": big.NewInt(0x80)}, false},
		{"kyberswap takes a larger share", kyber.functions, arguments{"parts": numbers(999_000), "receivers": receivers, "fees": numbers(11), "flags": big.NewInt(0x80)}, true},
		{"kyberswap pays a fee to no address", kyber.functions, arguments{"parts": numbers(999_990), "fees": numbers(10)}, true},
		{"kyberswap pays three", kyber.functions, arguments{"receivers": []common.Address{refinedOther, refinedIn, refinedOut}, "fees": numbers(0, 0, 0)}, true},
		{"kyberswap fills a part", kyber.functions, arguments{"flags": big.NewInt(1)}, true},
		{"kyberswap takes a fee of the output", kyber.functions, arguments{"flags": big.NewInt(kyberFeeOnOutput)}, true},
		{"1inch", oneInch.functions, nil, false},
		{"1inch with another flag", oneInch.functions, arguments{"flags": big.NewInt(4)}, false},
		{"1inch fills a part", oneInch.functions, arguments{"flags": big.NewInt(5)}, true},
		{"openocean", openOcean.functions, nil, false},
		{"openocean with another flag", openOcean.functions, arguments{"flags": big.NewInt(2)}, false},
		{"openocean fills a part", openOcean.functions, arguments{"flags": big.NewInt(3)}, true},
		{"sushi", sushi.functions, nil, false},
		{"okx", okx.functions, nil, false},
		{"lifi", lifi.functions, arguments{[3]int{5, 0, 6}: true}, false},
		{"lifi takes in the middle", lifi.functions, arguments{[3]int{5, 1, 6}: true, [3]int{5, 2, 6}: false}, true},
		{"lifi takes at the end", lifi.functions, arguments{[3]int{5, 2, 6}: true}, true},
		{"pairs", v2Calls.reader(), nil, false},
		{"routes", solidlyCalls.reader(), nil, false},
		{"sunio", sunioCalls, nil, false},
	} {
		for _, m := range row.of {
			if strings.HasPrefix(row.name, "lifi") && m.refine == nil {
				continue // a single swap, which takes the whole input
			}
			want := quote.Call{
				TokenIn: addressOf(refinedIn), TokenOut: addressOf(refinedOut), AmountIn: refinedMillion, MinOut: refined, Payee: addressOf(refinedPayee),
			}
			if m.places["in"] == nil {
				want.TokenIn = chain.NativeCoin(chain.EVM)
			}
			if m.places["out"] == nil {
				want.TokenOut = chain.NativeCoin(chain.EVM)
			}
			if m.places["payee"] == nil && m.places["payeeOrCaller"] == nil {
				want.Payee = chain.Address{}
			}
			got, err := row.of.read(chain.Chain{}, quote.Tx{Data: m.refinedCall(t, row.changed), Value: refinedMillion})
			got.Affiliate, got.Second = quote.Affiliate{}, quote.Affiliate{}
			if row.isRefused != (err != nil) || !row.isRefused && got != want {
				t.Errorf("%s by %.20s…: %+v, %v, want %+v, refused %t", row.name, m.signature, got, err, want, row.isRefused)
			}
		}
	}
}

// TestSharesOfKyberAreRead covers fees of the input as amounts and as basis points.
func TestSharesOfKyberAreRead(t *testing.T) {
	for flags, fees := range map[int64][]*big.Int{0: numbers(3000, 2000), 0x80: numbers(30, 20)} {
		for _, m := range kyber.functions {
			got, err := kyber.functions.read(chain.Chain{}, quote.Tx{Data: m.refinedCall(t, arguments{
				"flags": big.NewInt(flags), "fees": fees, "receivers": []common.Address{refinedOther, refinedPayee},
			})})
			if err != nil || !same(got.Affiliate, affiliate("0.3", refinedOther)) || !same(got.Second, affiliate("0.2", refinedPayee)) {
				t.Errorf("flags %d: %+v and %+v, %v", flags, got.Affiliate, got.Second, err)
			}
		}
	}
}

// TestCallsOfSunioThroughTheMulticall pay shares of the coin, then swap the rest of the value.
func TestCallsOfSunioThroughTheMulticall(t *testing.T) {
	multicall := addressOf(refinedOther)
	swap := func(in common.Address, amount int64) []byte {
		return sunioSwap.refinedCall(t, arguments{"in": in, "amount": big.NewInt(amount)})
	}
	payee, rest := addressOf(refinedPayee), chain.NewAmount(997_000)
	share, coin := words.Tuple{payee, false, 3000, ""}, swap(common.Address{}, 997_000)
	last := words.Tuple{sunioRouter, false, rest, coin}
	for name, row := range map[string]struct {
		value  uint64
		calls  words.List
		isGood bool
	}{
		"a share":               {1_000_000, words.List{share, last}, true},
		"no calls":              {1_000_000, nil, false},
		"no swap":               {1_000_000, words.List{share}, false},
		"a swap that may fail":  {1_000_000, words.List{share, words.Tuple{sunioRouter, true, rest, coin}}, false},
		"another router":        {1_000_000, words.List{share, words.Tuple{payee, false, rest, coin}}, false},
		"another amount":        {1_000_000, words.List{share, words.Tuple{sunioRouter, false, 996_999, coin}}, false},
		"of a token":            {1_000_000, words.List{share, words.Tuple{sunioRouter, false, rest, swap(refinedIn, 997_000)}}, false},
		"no value":              {0, words.List{share, last}, false},
		"a call beside":         {1_000_000, words.List{words.Tuple{payee, false, 3000, []byte{1}}, last}, false},
		"a share that may fail": {1_000_000, words.List{words.Tuple{payee, true, 3000, ""}, last}, false},
		"three shares":          {1_000_000, words.List{share, share, share, last}, false},
	} {
		data := sunioValueCall.Call(row.calls)
		got, err := readSunioCall(chain.Chain{Contracts: chain.Contracts{Multicall: multicall}}, quote.Tx{To: multicall, Data: data, Value: chain.NewAmount(row.value)})
		if (err == nil) != row.isGood || row.isGood && (got.AmountIn != refinedMillion || !same(got.Affiliate, affiliate("0.3", refinedPayee))) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func affiliate(percent string, of common.Address) quote.Affiliate {
	return quote.Affiliate{Percent: decimal.RequireFromString(percent), Recipient: addressOf(of)}
}

func same(a, b quote.Affiliate) bool { return a.Percent.Equal(b.Percent) && a.Recipient == b.Recipient }

// TestVelorasMinimumIsLessThanItsCallNames: it is at most the quoted amount, less the bounded fee and one unit.
func TestVelorasMinimumIsLessThanItsCallNames(t *testing.T) {
	for _, row := range []struct {
		quoted, fee int64
		want        uint64
	}{{2_000_000, 0, 1_999_999}, {3_000_000, 10, 1_997_999}, {1_000_000, 0, 999_999}, {2_000_000, 0x3fff, 1_959_999}, {2_000_000, 0x4000, 1_999_999}} {
		for _, m := range velora.functions {
			data := m.refinedCall(t, arguments{"quoted": big.NewInt(row.quoted), "fee": big.NewInt(row.fee)})
			if got, err := velora.functions.read(chain.Chain{}, quote.Tx{Data: data}); err != nil || got.MinOut != chain.NewAmount(row.want) {
				t.Errorf("%.30s… of %d with a fee of %d: %s, %v, want %d", m.signature, row.quoted, row.fee, got.MinOut, err, row.want)
			}
		}
	}
}

// TestLifiPaysTheCoinWhateverItsCallNames: LI.FI's functions named for the coin check the contract's own coin balance
// and the call's value, not the tokens and amounts in the swaps.
func TestLifiPaysTheCoinWhateverItsCallNames(t *testing.T) {
	if len(lifi.functions) != 6 {
		t.Errorf("%d functions, want 6", len(lifi.functions))
	}
	for _, m := range lifi.functions {
		data := m.refinedCall(t, nil)
		got, err := lifi.functions.read(chain.Chain{}, quote.Tx{Data: data, Value: chain.NewAmount(5)})
		want := quote.Call{
			TokenIn: addressOf(refinedIn), TokenOut: addressOf(refinedOut), AmountIn: refinedMillion, MinOut: refined, Payee: addressOf(refinedPayee),
		}
		if strings.Contains(m.signature, "NativeTo") {
			want.TokenIn, want.AmountIn = chain.NativeCoin(chain.EVM), chain.NewAmount(5)
		}
		if strings.Contains(m.signature, "ToNative") {
			want.TokenOut = chain.NativeCoin(chain.EVM)
		}
		if err != nil || got != want {
			t.Errorf("%.40s…: %+v, %v, want %+v", m.signature, got, err, want)
		}
	}
}

// TestTheZeroAddressIsNotARecipient: only in some routers does it mean the caller.
func TestTheZeroAddressIsNotARecipient(t *testing.T) {
	for name, known := range map[string]callReader{"sushi": sushi.functions, "lifi": lifi.functions, "pairs": v2Calls.reader(), "kyberswap": kyber.functions} {
		for _, m := range known {
			data := m.refinedCall(t, arguments{"payee": common.Address{}, "payeeOrCaller": common.Address{}})
			got, err := known.read(chain.Chain{}, quote.Tx{Data: data, Value: refinedMillion})
			if _, mayBeZero := m.places["payeeOrCaller"]; mayBeZero != (err == nil) || mayBeZero && !got.Payee.IsAbsent() {
				t.Errorf("%s by %.20s… to the zero address: pays %q, %v", name, m.signature, got.Payee, err)
			}
		}
	}
}

// TestWhatStandsBehindTheArgumentsIsKnown appends bytes to calls of every function that transactions may call directly.
// Only zeros that pad a word, and known tags, are accepted.
func TestWhatStandsBehindTheArgumentsIsKnown(t *testing.T) {
	for name, of := range map[string]callReader{
		"1inch": oneInch.functions, "enso": ensoSafe, "kyberswap": kyber.functions, "lifi": lifi.functions, "okx": okx.functions,
		"openocean": openOcean.functions, "sushiswap": sushi.functions, "velora": velora.functions, "0x": zeroExHolder,
		"0x, settler": zeroExSettler, "sunio": sunioCalls, "pairs": v2Calls.reader(),
		"routes": solidlyCalls.reader(), "wrap": wrapCalls,
	} {
		tag := map[string]int{"1inch": 4}[name]
		for _, m := range of {
			data := m.encode(t, nil)
			for _, size := range []int{1, 4, 31, 32, 33, 64, 96} {
				more := append(bytes.Clone(data), bytes.Repeat([]byte{0xba}, size)...)
				d, err := of.decode(quote.Tx{Data: more})
				if err == nil && m.behind != nil {
					err = m.behind(d, d.rest, &quote.Call{})
				}
				if (err != nil) != (size > tag) {
					t.Errorf("%s by %.20s… with %d bytes behind: %v", name, m.signature, size, err)
				}
			}
			if d, err := of.decode(quote.Tx{Data: data}); err != nil || len(d.rest) > 0 {
				t.Errorf("%s by %.20s…: %v, or something is said to stand behind", name, m.signature, err)
			}
			for size := 4; size < len(data); size += 31 {
				if _, err := of.decode(quote.Tx{Data: data[:size]}); err == nil {
					t.Errorf("%s by %.20s…: %d of %d bytes are said to be enough", name, m.signature, size, len(data))
				}
			}
		}
	}
}

// TestMalformedArgumentsAreRefused: lists that share their data take forever to read, and contracts disagree about words
// with more bits than their type has.
func TestMalformedArgumentsAreRefused(t *testing.T) {
	const many = 1000
	shared := slices.Concat(
		words.Encode(1, 1, 1, 1, 1, 1, 7*32, many),                           // arguments of dagSwapByOrderId, the last one a list
		bytes.Repeat(words.Encode(many*32), many),                            // of the same struct
		words.Encode(5*32, 5*32, 5*32, 5*32, 0, many), make([]byte, many*32), // which holds four times the same list
	)
	for _, row := range []struct {
		of        callReader
		function  string
		arguments []byte
		want      error
	}{
		{okx.functions, "dagSwapByOrderId", shared, errShared},
		{okx.functions, "dagSwapByOrderId", words.Encode(1, 1, 1, 1, 1, 1, 7*32, 0), nil},
		{okx.functions, "dagSwapByOrderId", words.Encode(1, 1, 1, 1, 1, 1, 8*32+1, 0), errCutOff},
		{okx.functions, "dagSwapByOrderId", words.Encode(1, 1, 1, 1, 1, 1, 7*32, chain.MaxAmount), errCutOff},
		{sushi.functions, "snwap", words.Encode(1, 1, 1, 1, 1, 1, 7*32, 0), nil},
		{sushi.functions, "snwap", words.Encode(chain.MaxAmount, 1, 1, 1, 1, 1, 7*32, 0), errDirty},
		{ensoSafe, "safeRouteSingle", words.Encode(4*32, 4*32, 1, 7*32, 255, 2*32, 0, 0), nil},
		{ensoSafe, "safeRouteSingle", words.Encode(4*32, 4*32, 1, 7*32, 256, 2*32, 0, 0), errDirty},
		{sunioValueCalls, "aggregate3Value", words.Encode(32, 1, 32, 1, 1, 1, 4*32, 0), nil},
		{sunioValueCalls, "aggregate3Value", words.Encode(32, 1, 32, 1, 2, 1, 4*32, 0), errDirty},
	} {
		for _, m := range row.of {
			if !strings.HasPrefix(m.signature, row.function+"(") {
				continue
			}
			if _, err := row.of.decode(quote.Tx{Data: append(m.Selector[:], row.arguments...)}); !errors.Is(err, row.want) {
				t.Errorf("%s with %.64x…: %v, want %v", row.function, row.arguments, err, row.want)
			}
		}
	}
}

// TestPathsWithoutTokensAreRefused: a missing token is not the coin.
func TestPathsWithoutTokensAreRefused(t *testing.T) {
	for name, of := range map[string]callReader{"pairs": v2Calls.reader(), "routes": solidlyCalls.reader(), "sunio": sunioCalls} {
		for _, m := range of {
			data := m.encode(t, arguments{"payee": refinedPayee, "amount": refinedAmount, "least": refinedMinimum})
			if got, err := of.read(chain.Chain{}, quote.Tx{Data: data, Value: refinedMillion}); err == nil {
				t.Errorf("%s by %.20s…: %+v, want that it is refused", name, m.signature, got)
			}
		}
	}
}

// okxWord returns a flag of 12 digits, a rate and an address.
func okxWord(flag string, rate uint64, of common.Address) []byte {
	return append(append(common.FromHex(flag), binary.BigEndian.AppendUint64(nil, rate)[2:]...), of.Bytes()...)
}

// TestSharesThatOKXTakesAreRead covers shares of either side after the arguments, for one receiver and for two.
func TestSharesThatOKXTakesAreRead(t *testing.T) {
	const one, two, output, outputs, many = "3ca20afc2aaa", "22220afc2aaa", "3ca20afc2bbb", "22220afc2bbb", "88880afc2aaa"
	const trim, trims = "777777771111", "777777772222"
	in, other := common.LeftPadBytes(refinedIn.Bytes(), 32), common.LeftPadBytes(refinedOut.Bytes(), 32)
	tenth := func(flag string, of common.Address) []byte { return okxWord(flag, 1_000_000, of) } // 0.1 %
	none := quote.Affiliate{}
	for _, row := range []struct {
		name           string
		behind         [][]byte
		amount         uint64 // input taken for a swap of a million; zero: refused
		shares, second quote.Affiliate
	}{
		{"nothing", nil, 1_000_000, none, none},
		{"a share", [][]byte{in, tenth(one, refinedOther)}, 1_001_001, affiliate("0.1", refinedOther), none},
		{"as much as the router gives", [][]byte{in, okxWord(one, 30_000_000, refinedOther)}, 1_030_927, affiliate("3", refinedOther), none},
		{"two shares", [][]byte{tenth(two, refinedPayee), in, tenth(two, refinedOther)}, 1_002_004, affiliate("0.1", refinedOther), affiliate("0.1", refinedPayee)},
		{"a share of the output", [][]byte{in, tenth(output, refinedOther)}, 0, none, none},
		{"shares of the output", [][]byte{tenth(outputs, refinedPayee), in, tenth(outputs, refinedOther)}, 0, none, none},
		{"a share of another token", [][]byte{other, tenth(one, refinedOther)}, 0, none, none},
		{"two kinds of share", [][]byte{tenth(one, refinedPayee), in, tenth(two, refinedOther)}, 0, none, none},
		{"three shares", [][]byte{in, tenth(two, refinedPayee), in, tenth(two, refinedOther)}, 0, none, none},
		{"many shares", [][]byte{in, tenth(many, refinedOther)}, 0, none, none},
		{"more than the router gives", [][]byte{in, okxWord(one, 30_000_001, refinedOther)}, 0, none, none},
		{"a share without a token", [][]byte{tenth(one, refinedOther)}, 0, none, none},
	} {
		for _, m := range okx.functions {
			data := append(m.refinedCall(t, nil), bytes.Join(row.behind, nil)...)
			got, err := okx.functions.read(chain.Chain{}, quote.Tx{Data: data})
			isRefused := row.amount == 0
			if isRefused != (err != nil) || !isRefused && (got.AmountIn != chain.NewAmount(row.amount) || !same(got.Affiliate, row.shares) || !same(got.Second, row.second)) {
				t.Errorf("%s by %.20s…: %+v, %v", row.name, m.signature, got, err)
			}
		}
	}
	// The last word, even if it belongs to an argument: an order's data, or a path's.
	for _, m := range okx.functions {
		for _, flag := range []string{one, two, many, output, outputs, trim, trims} {
			last, word := len(m.arguments.members)-1, tenth(flag, refinedOther)
			given := arguments{[3]int{last, 0, 9}: word}
			if strings.HasPrefix(m.signature, "dag") {
				given = arguments{[3]int{last, 0, 3}: [][]byte{word}}
			}
			alone := m.refinedCall(t, given)
			beside := slices.Concat(alone, in, tenth(one, refinedOther))
			for _, data := range [][]byte{alone, beside}[:1+strings.Count(trim+trims, flag)] {
				if got, err := okx.functions.read(chain.Chain{}, quote.Tx{Data: data}); !errors.Is(err, quote.ErrRefused) {
					t.Errorf("a share %s within the last argument by %.20s…: %+v, %v, want that it is refused", flag, m.signature, got, err)
				}
			}
		}
	}
}
