package venue

import (
	"encoding/base64"
	"errors"
	"fmt"

	"crossgate/chain"
	"crossgate/quote"
)

// mostPriority bounds a venue's priority fee, in lamports: it is the reserve when all of the coin is swapped.
const mostPriority = 1_000_000

// mintText returns a token's mint. Venues on Solana spell the coin as its wrapped mint, and wrap and unwrap it.
func mintText(s quote.Swap, a chain.Address) string {
	if a.IsNative() {
		a = s.Chain.WrappedCoin
	}
	return a.Format(chain.SVM)
}

// swapsWrapped reports whether the wrapped mint itself is swapped, so that a venue must not wrap and unwrap.
func swapsWrapped(s quote.Swap) bool {
	return s.In.Address == s.Chain.WrappedCoin || s.Out.Address == s.Chain.WrappedCoin
}

// wrapsOrNot refuses a swap between the coin and its wrapped form: to venues on Solana both are one token.
func wrapsOrNot(s quote.Swap) error {
	if swapsWrapped(s) && (s.In.Address.IsNative() || s.Out.Address.IsNative()) {
		return fmt.Errorf("%w between the coin and its wrapped form", quote.ErrNoRoute)
	}
	return nil
}

// mintQuery is the part of a query that venues on Solana have in common.
const mintQuery = "inputMint=$in outputMint=$out amount=$amount slippageBps=$bps wrapAndUnwrapSol=$wraps " +
	"excludeDexes=$excludedSources "

// checkMints refuses an answer about other tokens.
func checkMints(a reply, s quote.Swap) error {
	if a.text("inputMint") != mintText(s, s.In.Address) || a.text("outputMint") != mintText(s, s.Out.Address) {
		return errors.New("answer is about other tokens")
	}
	return nil
}

func (o proposal) message() (quote.Tx, error) {
	if len(o.tx.Data) > 0 {
		return o.tx, nil
	}
	data, err := base64.StdEncoding.DecodeString(o.data)
	if err != nil || len(data) == 0 {
		return quote.Tx{}, errors.New("transaction is not base64")
	}
	return quote.Tx{Data: data}, nil
}
