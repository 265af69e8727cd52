package venue

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"crossgate/chain"
	"crossgate/quote"
)

const (
	// coinText is how the venues here spell the native coin, which inside is the zero address.
	coinText = "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE"

	// signTime is how long a built transaction may wait for its signature and its block.
	signTime = 20 * time.Minute

	// maxCalldata is the size from which no node takes a transaction (go-ethereum's txMaxSize).
	maxCalldata = 128 << 10
)

func tokenText(a chain.Address) string {
	if a.IsNative() {
		return coinText
	}
	return a.String()
}

// chainText is a chain's EIP-155 id.
func chainText(s quote.Swap) string { return strconv.FormatUint(s.Chain.Native, 10) }

// gasPriceText is the chain's gas price in wei, empty where it is not known.
func gasPriceText(s quote.Swap) string {
	if s.GasPrice.IsZero() {
		return ""
	}
	return s.GasPrice.String()
}

// suits returns why a venue with profile p cannot do s, if so. An affiliate share is taken whole or refused, never
// lowered; venues count basis points.
func suits(p quote.Profile, s quote.Swap) error {
	if _, served := p.Routers[s.Chain.ID]; !served {
		return fmt.Errorf("%s on chain %d: %w", p.Name, s.Chain.ID, quote.ErrUnsupportedChain)
	}
	share := s.Affiliate.Percent.Add(s.Second.Percent)
	if share.GreaterThan(p.MaxAffiliatePercent) {
		return fmt.Errorf("%s: %w a share of %s %%", p.Name, quote.ErrNoAffiliate, share)
	}
	if !p.FineAffiliate && !s.Affiliate.Percent.Shift(2).IsInteger() || !s.Second.Percent.Shift(2).IsInteger() {
		return fmt.Errorf("%s: %w with a share finer than a basis point", p.Name, quote.ErrNoAffiliate)
	}
	if share.IsPositive() && p.SharesOfCoin && !s.In.Address.IsNative() {
		return fmt.Errorf("%s: %w, but for shares of the coin", p.Name, quote.ErrNoAffiliate)
	}
	if s.Second.Percent.IsPositive() && !p.PaysTwo {
		return fmt.Errorf("%s: %w with shares for two", p.Name, quote.ErrNoAffiliate)
	}
	if _, fits := s.In.Amount.Uint64(); s.Chain.Family == chain.SVM && !fits {
		return fmt.Errorf("%s: %w for more than 64 bits", p.Name, quote.ErrNoRoute)
	}
	return nil
}

// payees are the recipients of a share of the input, and how many basis points, as APIs list them: with commas
// between them, in the same sequence. Both are empty when there are none.
func payees(s quote.Swap) (shares, recipients string) {
	var eachShare, eachRecipient []string
	for _, a := range []quote.Affiliate{s.Affiliate, s.Second} {
		if a.Percent.IsPositive() {
			eachShare = append(eachShare, strconv.Itoa(bps(a.Percent)))
			eachRecipient = append(eachRecipient, a.Recipient.String())
		}
	}
	return strings.Join(eachShare, ","), strings.Join(eachRecipient, ",")
}

// transaction is the transaction of an answer as the venue spells it.
type transaction struct {
	To    string `json:"to"`
	Value digits `json:"value"`
	Data  string `json:"data"`
}

// check reads the transaction and refuses one that calls another contract than the venue's router, or
// that sends another value than the swap's input asks for.
func (t transaction) check(p quote.Profile, s quote.Swap) (quote.Tx, error) {
	router, err := parseRouter(t.To, p, s)
	if err != nil {
		return quote.Tx{}, err
	}
	value := coinValue(s)
	if t.Value == "" || t.Value.amount() != value {
		return quote.Tx{}, fmt.Errorf("transaction of value %q instead of %s", string(t.Value), value)
	}
	data, err := calldata(t.Data)
	if err != nil {
		return quote.Tx{}, err
	}
	return quote.Tx{To: router, Data: data, Value: value}, nil
}

// coinValue is what a swap's transaction carries of the coin.
func coinValue(s quote.Swap) chain.Amount {
	if s.In.Address.IsNative() {
		return s.In.Amount
	}
	return chain.Amount{}
}

// parseRouter reads the address of a contract that the venue's transactions may call.
func parseRouter(text string, p quote.Profile, s quote.Swap) (chain.Address, error) {
	router, err := chain.ParseAddress(text, chain.EVM)
	if err != nil {
		return chain.Address{}, fmt.Errorf("router: %w", err)
	}
	if !p.Calls(s.Chain.ID, router) {
		return chain.Address{}, fmt.Errorf("router %s is not the known one", router)
	}
	return router, nil
}

func checkRouter(text string, p quote.Profile, s quote.Swap) error {
	_, err := parseRouter(text, p, s)
	return err
}

// checkSpender refuses an answer that wants another contract approved than the venue's profile says.
func checkSpender(text, router string, p quote.Profile, s quote.Swap) error {
	spender, err := chain.ParseAddress(text, chain.EVM)
	if err != nil {
		return fmt.Errorf("spender: %w", err)
	}
	called, err := parseRouter(router, p, s)
	if err != nil {
		return err
	}
	if spender != p.Spender(s.Chain.ID, called) {
		return fmt.Errorf("spender %s is not the known one", spender)
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

// checkIn refuses an answer about another input amount than was asked about: a shared cache on the
// venue's side, or a mix-up.
func checkIn(in digits, s quote.Swap) error {
	if in.amount() != s.In.Amount {
		return fmt.Errorf("answer is about an input of %q instead of %s", string(in), s.In.Amount)
	}
	return nil
}

// checkMoved refuses to build at less than was quoted.
func checkMoved(out chain.Amount, q quote.Quote) error {
	if out.Cmp(q.AmountOut) < 0 {
		return fmt.Errorf("%w: %s instead of %s", ErrPriceMoved, out, q.AmountOut)
	}
	return nil
}

// checkMinimum refuses a transaction that enforces less than the slippage allows. Some APIs reckon in
// floating point: a part in a billion is forgiven them.
func checkMinimum(minimum digits, s quote.Swap, quoted chain.Amount) error {
	const billion = 1_000_000_000
	promised, err := lessPercent(quoted, s.SlippagePercent)
	if err != nil {
		return fmt.Errorf("minimum: %w", err)
	}
	if minimum.amount().Cmp(promised.MulDiv(billion-1, billion)) < 0 {
		return fmt.Errorf("minimum of %q instead of %s", string(minimum), promised)
	}
	return nil
}
