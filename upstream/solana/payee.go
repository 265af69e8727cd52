package solana

import (
	"context"
	"fmt"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/quote"
)

// referralProgram owns the referral accounts that Jupiter's dashboard creates, each with an account per token (add fees
// to swaps, developers.jup.ag).
var referralProgram = solana.MustAccount("REFER4ZgmyYx9c6He5XfaTMiGfdLwRnkV4RPp9t9iF3")

// Payee finds the account for a recipient's share of a token: that of a referral account for the token, a token account
// itself, a wallet's associated account or, for the coin, the wallet. None is opened at a sender's expense.
func (c *Chain) Payee(ctx context.Context, token, recipient chain.Address) (quote.Payee, error) {
	mint := token
	if token.IsNative() {
		mint = c.chain.WrappedCoin
	}
	referral := solana.ProgramAddress(referralProgram, []byte("referral_ata"), recipient.Bytes(), mint.Bytes())
	accounts := append(holdings(mint, recipient), referral)
	return find(ctx, c, accounts, func(states []*accountInfo) (quote.Payee, error) {
		own := states[0]
		if token.IsNative() && own != nil && own.Owner.Address == solana.SystemProgram {
			return quote.Payee{Account: recipient}, nil
		}
		for i, state := range states {
			h := readHolding(state)
			isTheirs := h.owner == recipient || i == 0 || accounts[i] == referral && own != nil && own.Owner.Address == referralProgram
			switch {
			case h.mint != mint || !isTheirs:
			case token.IsNative():
				return quote.Payee{Account: accounts[i], Wraps: true}, nil
			default:
				return quote.Payee{Account: accounts[i], Program: state.Owner.Address}, nil
			}
		}
		return quote.Payee{}, fmt.Errorf("%w: %s has no account for %s", quote.ErrNoPayee, recipient.Format(chain.SVM), mint.Format(chain.SVM))
	})
}
