package stories_test

import (
	"math/big"
	"net/http"
	"strings"
	"testing"

	"crossgate/config"
	"crossgate/sandbox"
	"crossgate/sandbox/sandboxtest"
	"crossgate/sandbox/solana"
)

// TestAffiliatesOnSolanaArePaid sends swaps with a share of the input for an affiliate: a wallet, and a referral account.
// The affiliate has the share more, the sender the whole input less, and the recipient what the answer says.
func TestAffiliatesOnSolanaArePaid(t *testing.T) {
	t.Parallel()
	world := sandboxtest.Start(t, sandbox.Options{})
	wallet := world.Accounts()[2].Wallet.Key.String()
	for _, name := range []string{"jupiter", "dflow"} {
		address := serveSwaps(t, world, func(c *config.Config) { onlyVenues(c, name) })
		for _, one := range []struct {
			swapCase
			recipient, paid string // the owner of the accounts that are paid into
		}{
			{swapCase{"coin", "USDC", "250000000", false, "1.25"}, wallet, wallet},
			{swapCase{"USDC", "coin", "150000001", false, "1.25"}, wallet, wallet},
			{swapCase{"PYUSD", "USDC", "20000000", false, "1.25"}, wallet, wallet},
			{swapCase{"USDC", "PYUSD", "20000000", true, "1.25"}, wallet, wallet},
			{swapCase{"USDC", "coin", "30000000", false, "1.25"}, solana.Referral.String(), solana.ReferralProject.String()},
			{swapCase{"coin", "USDC", "30000000", false, "1.25"}, solana.Referral.String(), solana.ReferralProject.String()},
		} {
			if name == "jupiter" && one.toStranger {
				continue // it pays the sender alone
			}
			t.Run(name+"/"+one.String()+"/"+one.recipient, func(t *testing.T) {
				w := newSolanaTrader(t, world, address)
				w.affiliate = one.recipient
				in := one.in
				if in == "coin" && one.paid != one.recipient { // into an account of the wrapped coin
					in = "wrapped"
				}
				had, spent := w.balance(t, in, one.paid), w.balance(t, one.in, w.address())
				w.makeSwap(t, one.swapCase)
				amount := decimal(t, one.amount)
				share := new(big.Int).Div(new(big.Int).Mul(amount, big.NewInt(125)), big.NewInt(10_000))
				if got := new(big.Int).Sub(w.balance(t, in, one.paid), had); got.Cmp(share) != 0 {
					t.Errorf("the affiliate got %s of %s, want %s", got, amount, share)
				}
				if spent.Sub(spent, w.balance(t, one.in, w.address())); one.in != "coin" && spent.Cmp(amount) != 0 {
					t.Errorf("the sender gave %s, want %s", spent, amount)
				}
			})
		}
		w := newSolanaTrader(t, world, address)
		w.affiliate = w.stranger
		query := w.query(swapCase{"USDC", "coin", "150000000", false, "1"})
		for _, query := range []string{query, strings.Replace(query, "transaction", "estimation", 1)} {
			p := problemAt(t, address+query)
			if p.status != http.StatusBadRequest || p.ErrorID != "INVALID_QUERY_PARAMETERS" || !strings.Contains(p.Message, "affiliateFeeRecipient") {
				t.Errorf("an affiliate without an account: %d %s %s", p.status, p.ErrorID, p.Message)
			}
		}
	}
}
