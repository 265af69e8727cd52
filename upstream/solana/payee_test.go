package solana

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"testing"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/quote"
)

// TestWhereSharesArePaid uses wallets, accounts of Jupiter's referral program, and missing accounts.
func TestWhereSharesArePaid(t *testing.T) {
	known, _ := chain.Documented().Chain(chain.Solana)
	usdc := solana.MustAccount("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v")
	partner := solana.MustAccount("862oLANNqhdXyUCwLJPBqUHrScrqNR4yoGWGTxjZftKs") // its account for USDC is Jupiter's example
	partners := solana.MustAccount("KFvgzxRScf7AL9Rv3yFvv7c6vLY5VZy4yuhVU5BUvxf")
	wrappedOf := solana.ProgramAddress(referralProgram, []byte("referral_ata"), partner.Bytes(), known.WrappedCoin.Bytes())
	registered := &accountInfo{Owner: solana.Base58{Address: referralProgram}, Lamports: 1}
	newer := tokens(usdc, mary, 5)
	newer.Owner.Address = solana.Token2022Program
	ledger := map[chain.Address]*accountInfo{}
	c := solanaAt(t, func(_ string, params []json.RawMessage) string {
		var keys []solana.Base58
		if err := json.Unmarshal(params[0], &keys); err != nil {
			t.Error(err)
		}
		shown := make([]any, len(keys))
		for i, key := range keys {
			if state := ledger[key.Address]; state != nil {
				shown[i] = map[string]any{
					"data": []string{base64.StdEncoding.EncodeToString(state.Data), "base64"}, "lamports": state.Lamports,
					"owner": state.Owner.Format(chain.SVM),
				}
			}
		}
		body, _ := json.Marshal(map[string]any{"value": shown})
		return string(body)
	})
	for name, row := range map[string]struct {
		token, recipient chain.Address
		has              map[chain.Address]*accountInfo
		want             quote.Payee
	}{
		"the coin, a wallet":               {coin, mary, map[chain.Address]*accountInfo{mary: wallet(1)}, quote.Payee{Account: mary}},
		"the coin, a wallet that is none":  {coin, mary, nil, quote.Payee{}},
		"a token, a wallet":                {usdc, mary, map[chain.Address]*accountInfo{associated(mary, usdc): tokens(usdc, mary, 0)}, quote.Payee{Account: associated(mary, usdc), Program: solana.TokenProgram}},
		"a token of the newer program":     {usdc, mary, map[chain.Address]*accountInfo{holdings(usdc, mary)[2]: newer}, quote.Payee{Account: holdings(usdc, mary)[2], Program: solana.Token2022Program}},
		"a token, a wallet without it":     {usdc, mary, map[chain.Address]*accountInfo{mary: wallet(1)}, quote.Payee{}},
		"a token, an account that is sold": {usdc, mary, map[chain.Address]*accountInfo{associated(mary, usdc): tokens(usdc, eve, 0)}, quote.Payee{}},
		"a token account itself":           {usdc, mary, map[chain.Address]*accountInfo{mary: tokens(usdc, eve, 0)}, quote.Payee{Account: mary, Program: solana.TokenProgram}},
		"a token account of another token": {usdc, mary, map[chain.Address]*accountInfo{mary: tokens(spare, eve, 0)}, quote.Payee{}},
		"a token, a referral account":      {usdc, partner, map[chain.Address]*accountInfo{partner: registered, partners: tokens(usdc, eve, 0)}, quote.Payee{Account: partners, Program: solana.TokenProgram}},
		"the coin, a referral account":     {coin, partner, map[chain.Address]*accountInfo{partner: registered, wrappedOf: tokens(known.WrappedCoin, eve, 0)}, quote.Payee{Account: wrappedOf, Wraps: true}},
		"a referral account without it":    {usdc, partner, map[chain.Address]*accountInfo{partner: registered}, quote.Payee{}},
		"somebody's account that is alike": {usdc, partner, map[chain.Address]*accountInfo{partner: wallet(1), partners: tokens(usdc, eve, 0)}, quote.Payee{}},
	} {
		ledger = row.has
		got, err := c.Payee(t.Context(), row.token, row.recipient)
		if got != row.want || errors.Is(err, quote.ErrNoPayee) != row.want.Account.IsAbsent() {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, row.want)
		}
	}
}
