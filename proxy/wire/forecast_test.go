package wire

import (
	"testing"

	"crossgate/chain"
	"crossgate/chain/revert"
	"crossgate/chain/words"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/creation"
)

// creationAnswers are judged creations: complete ones, refused ones, and ones with little known.
func creationAnswers(t *testing.T) map[string][]byte {
	t.Helper()
	salt, bps, fee, coins, no := uint64(1_784_948_708_910), uint64(4), amount(t, "1000000000000000"), amount(t, "5000000000000000"), false
	destination := account(0xdd)
	source, router := account(0x50), account(0x70)
	c := creation.Creation{
		GiveToken: account(0x83), GiveAmount: amount(t, "18000000"), Salt: &salt, Receiver: account(0xb2), ReferralCode: 31805,
		Take:         order.Offer{Chain: polygon, Token: chain.NativeCoin(chain.EVM), Amount: amount(t, "0")},
		Authorities:  order.Authorities{GivePatch: account(0xa1), Order: account(0xb1), AllowedTaker: account(0x7a), CancelBeneficiary: account(0xa1)},
		AffiliateFee: creation.AffiliateFee(order.Affiliate{Beneficiary: account(0xaf), Amount: amount(t, "1800")}),
		ExternalCall: []byte{2, 9}, Metadata: metadataV1(t),
		Permit: words.Encode(amount(t, "18000000"), amount(t, "1790005808"), chain.Hash{1}, chain.Hash{}),
	}
	c.Permit = append(c.Permit, 28) // v, after amount, deadline, r and s
	tx := creation.Transaction{Sender: account(0xa1), To: source, Value: fee, Data: c.Data()}
	state := creation.State{
		Chain: base, Contracts: chain.Contracts{DlnSource: source, Router: router}, Coins: &coins, Version: "1.8.0", Paused: &no,
		FixedFee: &fee, PercentBps: &bps, Destination: &destination, IsUsed: &no,
		Input: creation.Token{IsToken: new(true), Balance: &c.GiveAmount, Allowance: new(chain.Amount), TakesPermit: new(true), Transfer: creation.ReturnsNothing},
	}
	judged := func(tx creation.Transaction, s creation.State) []creation.Forecast {
		return []creation.Forecast{must.Get(creation.Judge(tx, s))(t)}
	}
	over := tx
	over.Value = amount(t, "1000000000000001")
	swapped := tx
	swapped.To = router
	swapped.Data = creation.Swap{
		TokenIn: chain.NativeCoin(chain.EVM), AmountIn: amount(t, "7"), Permit: []byte{1}, Venue: account(0x99), TokenOut: c.GiveToken,
		ExpectedOut: c.GiveAmount, RefundRecipient: account(0xa1), Target: source, TargetData: over.Data,
	}.Data()
	refused := state
	refused.CallsTarget, refused.CallsVenue, refused.Give = new(true), new(true), state.Input
	errors := revert.Parse("CallFailed(address target,bytes data)", "WrongFixedFee(uint256 received,uint256 actual)")
	refused.Executed = &creation.CallResult{
		IsReverted: true, Data: errors.Encode("CallFailed", source, errors.Encode("WrongFixedFee", amount(t, "999999999999993"), fee)),
	}
	poor := state
	poor.Coins = new(chain.Amount)
	differences := []Difference{{"dstChainTokenOutAmount", "17", "0"}}
	w := documented
	return map[string][]byte{
		"verification":         w.AppendForecasts(nil, base, judged(tx, state), differences),
		"verification_refused": w.AppendForecasts(nil, base, judged(swapped, refused), nil),
		"verification_unpaid":  w.AppendForecasts(nil, base, judged(over, poor), nil),
		"verification_unknown": w.AppendForecasts(nil, base, judged(tx, creation.State{Chain: base, Contracts: state.Contracts}), nil),
		"cancel": w.AppendSettlement(nil, Settlement{
			Transaction: creation.Transaction{Sender: account(0xb1), To: account(0xdd), Value: fee, Data: []byte{0xd3, 0x8d, 0x96, 0x26}},
			Chain:       polygon, Beneficiary: account(0xa1), PaidOn: base,
		}, "cancelBeneficiary"),
		"cancel_tron": w.AppendSettlement(nil, Settlement{
			Transaction: creation.Transaction{Sender: account(0xb1), To: account(0xdd), Data: []byte{0xd3, 0x8d, 0x96, 0x26}},
			Chain:       chain.Tron, Beneficiary: key(0xa1), PaidOn: chain.Solana,
		}, "cancelBeneficiary"),
		"unlock_solana": w.AppendSettlement(nil, Settlement{
			Transaction: creation.Transaction{Sender: key(0xb1), Value: fee, Data: []byte{1, 0}},
			Chain:       chain.Solana, Beneficiary: account(0xa1), PaidOn: base,
		}, "unlockBeneficiary"),
	}
}
