package venue

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"crossgate/chain"
	"crossgate/quote"
)

const (
	// coinText is the address of the native coin at venues; internally it is the zero address.
	coinText = "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE"

	// signTime is how long a built transaction may wait for its signature and its block.
	signTime = 20 * time.Minute

	// maxCalldata is the size from which nodes reject a transaction, in bytes (go-ethereum's txMaxSize).
	maxCalldata = 128 << 10
)

// build returns the proposal's transaction if it keeps a promised amount, calls the venue and carries just the input.
func (o proposal) build(p quote.Profile, s quote.Swap, promised chain.Amount) (quote.Tx, error) {
	// No looser than the slippage allows, but for a part in a billion: some APIs use floats.
	const billion = 1_000_000_000
	if least := leastOf(promised, s); o.least != nil && o.least.Cmp(least.MulDiv(billion-1, billion)) < 0 {
		return quote.Tx{}, fmt.Errorf("minimum of %s instead of %s", o.least, least)
	}
	if s.Chain.Family == chain.SVM {
		return o.message()
	}
	router, err := parseRouter(o.to, p, s)
	if err != nil {
		return quote.Tx{}, err
	}
	value := coinValue(s)
	if o.value != value {
		return quote.Tx{}, fmt.Errorf("transaction of value %s instead of %s", o.value, value)
	}
	data, err := calldata(o.data)
	if err != nil {
		return quote.Tx{}, err
	}
	return quote.Tx{To: router, Data: data, Value: value}, nil
}

// leastOf is what the swap's slippage leaves of an amount.
func leastOf(amount chain.Amount, s quote.Swap) chain.Amount {
	return amount.Sub(quote.Share(amount, s.SlippagePercent))
}

// coinValue returns the coin that a swap's transaction carries.
func coinValue(s quote.Swap) chain.Amount {
	if s.In.Address.IsNative() {
		return s.In.Amount
	}
	return chain.Amount{}
}

// parseRouter parses the address of a contract that the venue's transactions may call.
func parseRouter(text string, p quote.Profile, s quote.Swap) (chain.Address, error) {
	router, err := chain.ParseAddress(text, chain.EVM)
	if err != nil {
		return chain.Address{}, fmt.Errorf("router: %w", err)
	}
	if !p.Calls(s.Chain.ID, router) {
		return chain.Address{}, fmt.Errorf("unknown router %s", router)
	}
	return router, nil
}

// checkSpender refuses an answer whose spender is not that of the venue's profile. Without a transaction the spender
// must be a contract that the venue calls.
func checkSpender(text, router string, p quote.Profile, s quote.Swap) error {
	spender, err := chain.ParseAddress(text, chain.EVM)
	if err != nil {
		return fmt.Errorf("spender: %w", err)
	}
	called, err := parseRouter(cmp.Or(router, text), p, s)
	if err != nil {
		return err
	}
	if spender != p.Spender(s.Chain.ID, called) {
		return fmt.Errorf("unknown spender %s", spender)
	}
	return nil
}

func calldata(text string) ([]byte, error) {
	digits, prefixed := strings.CutPrefix(text, "0x")
	if !prefixed || digits == "" || len(digits) > 2*maxCalldata {
		return nil, fmt.Errorf("calldata of %d characters", len(text))
	}
	data, err := hex.DecodeString(digits)
	if err != nil {
		return nil, errors.New("calldata is not hex")
	}
	return data, nil
}

// checkMoved refuses to build at less than was quoted.
func checkMoved(out, quoted chain.Amount) error {
	if out.Cmp(quoted) < 0 {
		return fmt.Errorf("%w: %s instead of %s", ErrPriceMoved, out, quoted)
	}
	return nil
}
