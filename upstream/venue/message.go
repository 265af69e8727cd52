package venue

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/quote"
)

// mostPriority bounds what a venue may bid for a place in a block, in lamports: as much as is kept back for it where
// all of the coin is swapped. Bids of others can leap.
const mostPriority = 1_000_000

// priorityLevel is a priority as venues on Solana spell it: high is the median of what others bid, veryHigh the
// upper quartile.
func priorityLevel(p quote.Priority) string {
	if p == quote.Aggressive {
		return "veryHigh"
	}
	return "high"
}

// mintText is how venues on Solana spell the coin: as its wrapped mint, which they wrap and unwrap.
func mintText(s quote.Swap, a chain.Address) string {
	if a.IsNative() {
		a = s.Chain.WrappedCoin
	}
	return a.Format(chain.SVM)
}

// wrapsCoin reports whether a venue is to wrap and unwrap: not where the wrapped mint itself is swapped. The same
// token on both sides is an error.
func wrapsCoin(s quote.Swap) (bool, error) {
	wrapped := s.In.Address == s.Chain.WrappedCoin || s.Out.Address == s.Chain.WrappedCoin
	if wrapped && (s.In.Address.IsNative() || s.Out.Address.IsNative()) {
		return false, fmt.Errorf("%w between the coin and its wrapped form", quote.ErrNoRoute)
	}
	return !wrapped, nil
}

// swapQuery is the part of a query that venues on Solana spell alike.
func swapQuery(s quote.Swap) url.Values {
	return url.Values{
		"inputMint":   {mintText(s, s.In.Address)},
		"outputMint":  {mintText(s, s.Out.Address)},
		"amount":      {s.In.Amount.String()},
		"slippageBps": {strconv.Itoa(bps(s.SlippagePercent))},
	}
}

// mintAmounts is the part of an answer that venues on Solana spell alike.
type mintAmounts struct {
	InputMint  string `json:"inputMint"`
	OutputMint string `json:"outputMint"`
	InAmount   digits `json:"inAmount"`
	OutAmount  digits `json:"outAmount"` // after every fee
}

// check refuses an answer about another swap than was asked about.
func (m mintAmounts) check(s quote.Swap) error {
	if m.InputMint != mintText(s, s.In.Address) || m.OutputMint != mintText(s, s.Out.Address) {
		return errors.Join(errors.New("answer is about other tokens"), checkIn(m.InAmount, s))
	}
	return checkIn(m.InAmount, s)
}

// parseAccount reads the address of an account that a venue names.
func parseAccount(text string) (chain.Address, error) {
	account, err := chain.ParseAddress(text, chain.SVM)
	if err != nil {
		return chain.Address{}, fmt.Errorf("%q is not an account", clean(text))
	}
	return account, nil
}

// readMessage decodes a transaction that a venue made.
func readMessage(text string) (quote.Tx, error) {
	if len(text) > base64.StdEncoding.EncodedLen(solana.MaxTransaction) {
		return quote.Tx{}, fmt.Errorf("transaction of %d characters", len(text))
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(data) == 0 {
		return quote.Tx{}, errors.New("transaction is not base64")
	}
	return quote.Tx{Data: data}, nil
}
