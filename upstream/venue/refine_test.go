package venue

import (
	"math/big"
	"reflect"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"crossgate/chain"
	"crossgate/quote"
)

// argument is what stands at a position.
type argument struct {
	at position
	is any
}

// encode makes calldata of a function with some arguments, and with zero for all others. Lists are as long as their
// arguments want.
func (f parsedFunction) encode(t *testing.T, selector [4]byte, arguments ...argument) []byte {
	t.Helper()
	values := make([]any, len(f.inputs))
	for i, input := range f.inputs {
		value := reflect.New(input.Type.GetType()).Elem()
		for _, each := range arguments {
			if each.at[0] == i {
				assign(value, each.at[1:], each.is)
			}
		}
		fillZeros(value)
		values[i] = value.Interface()
	}
	packed, err := f.inputs.Pack(values...)
	if err != nil {
		t.Fatalf("%s: %v", f.signature, err)
	}
	return append(selector[:], packed...)
}

// assign sets a member of value.
func assign(value reflect.Value, at position, to any) {
	for _, i := range at {
		if value.Kind() == reflect.Struct {
			value = value.Field(i)
			continue
		}
		if i < 0 {
			i += max(value.Len(), 1)
		}
		for value.Len() <= i {
			value.Set(reflect.Append(value, reflect.Zero(value.Type().Elem())))
		}
		value = value.Index(i)
	}
	value.Set(reflect.ValueOf(to))
}

// fillZeros gives value the numbers that it lacks.
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

// A swap of a million of one token for at least two million of another, and who is paid.
var (
	refinedIn, refinedOut   = common.HexToAddress("0x70"), common.HexToAddress("0x71")
	refinedPayee            = common.HexToAddress("0x01")
	refinedOther            = common.HexToAddress("0x02")
	refinedAmount           = big.NewInt(1_000_000)
	refinedMinimum          = big.NewInt(2_000_000)
	refinedMillion, refined = chain.NewAmount(1_000_000), chain.NewAmount(2_000_000)
)

func numbers(all ...int64) []*big.Int {
	list := make([]*big.Int, len(all))
	for i, each := range all {
		list[i] = big.NewInt(each)
	}
	return list
}

// TestCallsThatTakeMoreAreRefused has flags, fees and deposits in otherwise right calls of each function that takes such.
func TestCallsThatTakeMoreAreRefused(t *testing.T) {
	is := func(value any, at ...int) argument { return argument{position(at), value} } // within the struct of the swap
	receives := is([]common.Address{refinedOther}, 4)
	for _, row := range []struct {
		name      string
		of        callReader
		arguments []argument
		isRefused bool
	}{
		{"kyberswap", kyber.functions, nil, false},
		{"kyberswap pays all to pools", kyber.functions, []argument{is(numbers(600_000, 400_000), 3)}, false},
		{"kyberswap pays more to pools", kyber.functions, []argument{is(numbers(600_000, 400_001), 3)}, true},
		{"kyberswap takes a fee and the rest", kyber.functions, []argument{is(numbers(999_990), 3), receives, is(numbers(10), 5)}, false},
		{"kyberswap takes a fee beside all", kyber.functions, []argument{is(numbers(1_000_000), 3), receives, is(numbers(1), 5)}, true},
		{"kyberswap takes a share", kyber.functions, []argument{is(numbers(999_000), 3), receives, is(numbers(10), 5), is(big.NewInt(0x80), 9)}, false},
		{"kyberswap takes a larger share", kyber.functions, []argument{is(numbers(999_000), 3), receives, is(numbers(11), 5), is(big.NewInt(0x80), 9)}, true},
		{"kyberswap pays a fee to nobody", kyber.functions, []argument{is(numbers(999_990), 3), is(numbers(10), 5)}, true},
		{"kyberswap fills a part", kyber.functions, []argument{is(big.NewInt(kyberPartialFill), 9)}, true},
		{"kyberswap takes a fee of the output", kyber.functions, []argument{is(big.NewInt(kyberFeeOnOutput), 9)}, true},
		{"1inch", oneInch.functions, nil, false},
		{"1inch with another flag", oneInch.functions, []argument{is(big.NewInt(4), 6)}, false},
		{"1inch fills a part", oneInch.functions, []argument{is(big.NewInt(oneInchPartialFill|4), 6)}, true},
		{"openocean", openOcean.functions, nil, false},
		{"openocean with another flag", openOcean.functions, []argument{is(big.NewInt(2), 7)}, false},
		{"openocean fills a part", openOcean.functions, []argument{is(big.NewInt(openOceanPartialFill|2), 7)}, true},
	} {
		for selector, f := range row.of {
			var arguments []argument
			for _, each := range row.arguments {
				within := f.tokenIn[:len(f.tokenIn)-1]
				arguments = append(arguments, argument{append(within[:len(within):len(within)], each.at...), each.is})
			}
			expectRefined(t, row.name, row.of, f, f.encode(t, selector, f.completed(arguments)...), row.isRefused)
		}
	}
	for selector, f := range lifi.functions {
		if f.refine == nil {
			continue // one swap, which takes the input
		}
		takes := func(deposits ...bool) []byte {
			var arguments []argument
			for i, does := range deposits {
				arguments = append(arguments, argument{position{5, i, 6}, does})
			}
			return f.encode(t, selector, f.completed(arguments)...)
		}
		expectRefined(t, "lifi", lifi.functions, f, takes(true, false, false), false)
		expectRefined(t, "lifi takes in the middle", lifi.functions, f, takes(true, true, false), true)
		expectRefined(t, "lifi takes at the end", lifi.functions, f, takes(true, false, true), true)
	}
}

// TestLifiPaysTheCoinWhateverItsCallNames: where a function of LI.FI's is named for the coin, the contract looks at its own
// coin and at the value of the call, not at the tokens and amounts that the swaps name.
func TestLifiPaysTheCoinWhateverItsCallNames(t *testing.T) {
	for selector, f := range lifi.functions {
		data := f.encode(t, selector,
			argument{position{3}, refinedPayee}, argument{position{4}, refinedMinimum}, swapOf(f, 2, refinedIn), swapOf(f, 3, refinedOut), swapOf(f, 4, refinedAmount),
		)
		got, err := lifi.functions.read(chain.Chain{}, quote.Tx{Data: data, Value: chain.NewAmount(5)})
		want := quote.Call{
			TokenIn: chain.NewAddress(refinedIn.Bytes()), TokenOut: chain.NewAddress(refinedOut.Bytes()),
			AmountIn: refinedMillion, MinOut: refined, Payee: chain.NewAddress(refinedPayee.Bytes()),
		}
		if strings.Contains(f.signature, "NativeTo") {
			want.TokenIn, want.AmountIn = chain.NativeCoin(chain.EVM), chain.NewAmount(5)
		}
		if strings.Contains(f.signature, "ToNative") {
			want.TokenOut = chain.NativeCoin(chain.EVM)
		}
		if err != nil || got != want {
			t.Errorf("%.40s…: %+v, %v, want %+v", f.signature, got, err, want)
		}
	}
}

// swapOf is a member of the swap in a call of LI.FI's.
func swapOf(f parsedFunction, member int, is any) argument {
	if f.refine != nil {
		return argument{position{5, 0, member}, is}
	}
	return argument{position{5, member}, is}
}

// completed are the arguments with those that every call has.
func (f parsedFunction) completed(arguments []argument) []argument {
	return append(arguments,
		argument{f.tokenIn, refinedIn}, argument{f.tokenOut, refinedOut}, argument{f.payee, refinedPayee},
		argument{f.amountIn, refinedAmount}, argument{f.minOut, refinedMinimum},
	)
}

func expectRefined(t *testing.T, name string, of callReader, f parsedFunction, data []byte, isRefused bool) {
	t.Helper()
	got, err := of.read(chain.Chain{}, quote.Tx{Data: data, Value: refinedMillion})
	switch {
	case isRefused && err == nil:
		t.Errorf("%s by %.20s…: %+v, want that it is refused", name, f.signature, got)
	case !isRefused && (err != nil || got.AmountIn != refinedMillion || got.MinOut != refined || got.Payee != chain.NewAddress(refinedPayee.Bytes())):
		t.Errorf("%s by %.20s…: %+v, %v", name, f.signature, got, err)
	}
}

// TestNobodyIsNoPayee: the zero address stands for the caller in some routers alone.
func TestNobodyIsNoPayee(t *testing.T) {
	for name, known := range map[string]callReader{"sushi": sushi.functions, "lifi": lifi.functions, "pairs": v2Calls, "kyberswap": kyber.functions} {
		for selector, f := range known {
			arguments := f.completed(nil)
			arguments[2].is = common.Address{}
			got, err := known.read(chain.Chain{}, quote.Tx{Data: f.encode(t, selector, arguments...), Value: refinedMillion})
			if f.zeroPays != (err == nil) || f.zeroPays && !got.Payee.IsAbsent() {
				t.Errorf("%s by %.20s… to the zero address: pays %q, %v", name, f.signature, got.Payee, err)
			}
		}
	}
}

// TestV3CallsThatAreNotOursAreRefused has all of what SwapRouter02 can do with calls in a row.
func TestV3CallsThatAreNotOursAreRefused(t *testing.T) {
	ethereum, _ := chain.Documented().Chain(chain.Ethereum)
	wrapped := common.BytesToAddress(ethereum.WrappedCoin.Bytes())
	hops := func(stops ...common.Address) []byte {
		return path{stops: stops, fees: make([]uint32, len(stops)-1)}.packed()
	}
	swap := func(path []byte, recipient common.Address) []byte {
		return pack(feesABI, "exactInput", struct {
			Path             []byte
			Recipient        common.Address
			AmountIn         *big.Int
			AmountOutMinimum *big.Int
		}{path, recipient, refinedAmount, refinedMinimum})
	}
	unwrap := pack(feesABI, "unwrapWETH9", refinedMinimum, refinedPayee)
	for _, row := range []struct {
		name    string
		value   chain.Amount
		calls   [][]byte
		in, out string // empty: refused
	}{
		{"a swap", chain.Amount{}, [][]byte{swap(hops(refinedIn, refinedOut), refinedPayee)}, refinedIn.Hex(), refinedOut.Hex()},
		{"three stops", chain.Amount{}, [][]byte{swap(hops(refinedIn, wrapped, refinedOut), refinedPayee)}, refinedIn.Hex(), refinedOut.Hex()},
		{"the coin in", refinedMillion, [][]byte{swap(hops(wrapped, refinedOut), refinedPayee)}, "", refinedOut.Hex()},
		{"the wrapped coin in", chain.Amount{}, [][]byte{swap(hops(wrapped, refinedOut), refinedPayee)}, wrapped.Hex(), refinedOut.Hex()},
		{"a part of the coin in", chain.NewAmount(1), [][]byte{swap(hops(wrapped, refinedOut), refinedPayee)}, wrapped.Hex(), refinedOut.Hex()},
		{"unwrapped", chain.Amount{}, [][]byte{swap(hops(refinedIn, wrapped), routerItself), unwrap}, refinedIn.Hex(), ""},
	} {
		got, err := readV3Call(ethereum, quote.Tx{Data: pack(feesABI, "multicall", new(big.Int), row.calls), Value: row.value})
		if err != nil || got.TokenIn != v3Token(row.in) || got.TokenOut != v3Token(row.out) || got.Payee != chain.NewAddress(refinedPayee.Bytes()) ||
			got.AmountIn != refinedMillion || got.MinOut != refined {
			t.Errorf("%s: %+v, %v", row.name, got, err)
		}
	}
	for name, calls := range map[string][][]byte{
		"nothing":                       nil,
		"two swaps":                     {swap(hops(refinedIn, refinedOut), refinedPayee), swap(hops(refinedIn, refinedOut), refinedPayee)},
		"more behind":                   {swap(hops(refinedIn, wrapped), routerItself), unwrap, unwrap},
		"the unwrapping alone":          {unwrap},
		"a path of one stop":            {swap(hops(refinedIn), refinedPayee)},
		"a path that ends early":        {swap(hops(refinedIn, refinedOut)[:42], refinedPayee)},
		"no path":                       {swap(nil, refinedPayee)},
		"a long path that ends early":   {swap(hops(refinedIn, wrapped, refinedOut)[:65], refinedPayee)},
		"another token and unwrapped":   {swap(hops(refinedIn, refinedOut), routerItself), unwrap},
		"paid to a stranger, unwrapped": {swap(hops(refinedIn, wrapped), refinedIn), unwrap},
	} {
		if got, err := readV3Call(ethereum, quote.Tx{Data: pack(feesABI, "multicall", new(big.Int), calls)}); err == nil {
			t.Errorf("%s: %+v, want that it is refused", name, got)
		}
	}
}

// v3Token is the coin for an empty text.
func v3Token(text string) chain.Address {
	if text == "" {
		return chain.NativeCoin(chain.EVM)
	}
	return chain.NewAddress(common.HexToAddress(text).Bytes())
}

// TestRelayEndsWithAPaymentOfItsRouter changes one thing at a time in calls that do.
func TestRelayEndsWithAPaymentOfItsRouter(t *testing.T) {
	ethereum, _ := chain.Documented().Chain(chain.Ethereum)
	router := common.BytesToAddress(relay.on(chain.NewRegistry(ethereum)).Routers[chain.Ethereum].Bytes())
	encode := func(known callReader, arguments ...argument) []byte {
		for selector, f := range known {
			return f.encode(t, selector, arguments...)
		}
		return nil
	}
	payment := func(amount *big.Int, more ...argument) []byte {
		return encode(relayPayTokens, append([]argument{{position{0, 0}, refinedOut}, {position{1, 0}, refinedPayee}, {position{2, 0}, amount}}, more...)...)
	}
	read := func(more ...argument) (quote.Call, error) {
		return readRelayCall(ethereum, quote.Tx{Data: encode(relayTokenCall, append([]argument{
			{position{0, 0}, refinedIn},
			{position{1, 0}, refinedAmount},
			{position{2, 0, 0}, refinedIn},
			{position{2, 1, 0}, router},
			{position{2, 1, 3}, payment(refinedMinimum)},
		}, more...)...)})
	}
	if got, err := read(); err != nil || got.MinOut != refined || got.AmountIn != refinedMillion || got.Payee != chain.NewAddress(refinedPayee.Bytes()) {
		t.Errorf("a call that ends with its payment: %+v, %v", got, err)
	}
	if got, err := read(argument{position{3}, refinedOther}); err != nil || got.Refund != chain.NewAddress(refinedOther.Bytes()) {
		t.Errorf("a call that gives another what is left: %+v, %v", got, err)
	}
	for name, change := range map[string]argument{
		"more tokens":                      {position{0, 1}, refinedOut},
		"a payment that may fail":          {position{2, 1, 1}, true},
		"a payment by another":             {position{2, 1, 0}, refinedIn},
		"a call behind it":                 {position{2, 2, 0}, refinedIn},
		"a payment of all it has":          {position{2, 1, 3}, payment(new(big.Int))},
		"a payment of the rest to another": {position{2, 1, 3}, payment(refinedMinimum, argument{position{1, 1}, refinedOther})},
		"a payment that is no one":         {position{2, 1, 3}, []byte("transfer")},
	} {
		if got, err := read(change); err == nil {
			t.Errorf("%s: %+v, want that it is refused", name, got)
		}
	}
}

// TestEnsoPaysWhomItsCallNames reads a call for each kind of token on either side.
func TestEnsoPaysWhomItsCallNames(t *testing.T) {
	word := func(n *big.Int) []byte { return n.FillBytes(make([]byte, 32)) }
	token := func(of common.Address, amount *big.Int) []byte {
		return append(common.LeftPadBytes(of.Bytes(), 32), word(amount)...)
	}
	coin, in, out := chain.NativeCoin(chain.EVM), chain.NewAddress(refinedIn.Bytes()), chain.NewAddress(refinedOut.Bytes())
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
		for selector, f := range ensoSafe {
			data := f.encode(t, selector,
				argument{position{0, 0}, row.kindIn}, argument{position{0, 1}, row.dataIn},
				argument{position{1, 0}, row.kindOut}, argument{position{1, 1}, row.dataOut}, argument{position{2}, refinedPayee})
			got, err := readEnsoCall(chain.Chain{}, quote.Tx{Data: data})
			want := quote.Call{
				TokenIn: row.in, TokenOut: row.out, AmountIn: refinedMillion, MinOut: refined, Payee: chain.NewAddress(refinedPayee.Bytes()),
			}
			if isRefused := row.in.IsAbsent() || row.out.IsAbsent(); isRefused != (err != nil) || !isRefused && got != want {
				t.Errorf("types %d and %d: %+v, %v, want %+v", row.kindIn, row.kindOut, got, err, want)
			}
		}
	}
}
