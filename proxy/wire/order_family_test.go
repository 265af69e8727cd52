package wire

import (
	"testing"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/token"
)

var trx = token.Token{Decimals: 6, Name: "TRON", Symbol: "TRX", LogoURI: "https://logos.example/trx.png"}

func TestAppendOrderBetweenFamilies(t *testing.T) {
	for name, record := range map[string]Record{
		"order_solana":         {Order: solanaOrder(t), Give: usdc, Take: usdc},
		"order_tron":           {Order: tronOrder(t), Give: usdc, Take: usdc},
		"order_solana_to_tron": {Order: claimedOnSolana(t), Give: usdc, Take: trx},
		"order_tron_to_solana": {Order: refundedOnTron(t), Give: trx, Take: usdc},
	} {
		t.Run(name, func(t *testing.T) { checkGolden(t, name, documented.AppendOrder(nil, record)) })
	}
}

// solanaOrder goes from Base to Solana, where bytes are longer and texts are base58.
func solanaOrder(t testing.TB) *order.Order {
	event := plainOrder(t)
	created := event.Fact.(order.Created)
	created.Terms.Take = order.Offer{Chain: chain.Solana, Token: key(0xc6), Amount: amount(t, "17279551")}
	created.Terms.Receiver = key(0xb1)
	created.Terms.Authorities.Order = key(0xb2)
	event.Fact = created
	fulfilled := on(chain.Solana, solanaTx(0xf1), 435_046_332, 1_784_948_719)
	fulfilled.Initiator = key(0xd1)
	return fold(t, event, order.Event{Order: event.Order, At: fulfilled, Fact: order.Fulfilled{
		Terms: created.Terms, Taker: key(0xd1), UnlockAuthority: key(0xd1),
	}})
}

// tronOrder goes from TRON, whose hashes have no prefix and whose addresses are base58check, to Base.
func tronOrder(t testing.TB) *order.Order {
	event := plainOrder(t)
	created := event.Fact.(order.Created)
	created.Terms.Give.Chain = chain.Tron
	created.Terms.Take = order.Offer{Chain: base, Token: account(0x83), Amount: amount(t, "17279551")}
	created.Metadata = []byte{9, 1, 2}
	event.At = on(chain.Tron, evmTx(0xc1), 70_000_000, 1_784_948_713)
	event.Fact = created
	return fold(t, event)
}

// onSolana is where on Solana something happened: in a slot, under a signature of 64 bytes.
func onSolana(signature byte, slot, time uint64) order.At {
	at := on(chain.Solana, solanaTx(signature), slot, time)
	at.Initiator = key(signature)
	return at
}

// claimedOnSolana went from Solana to TRON and was paid for, with a share for an affiliate.
func claimedOnSolana(t testing.TB) *order.Order {
	terms := order.Terms{
		Nonce:       1_784_948_708_911,
		Maker:       key(0xa1),
		Give:        order.Offer{Chain: chain.Solana, Token: key(0xc6), Amount: amount(t, "17992800")},
		Take:        order.Offer{Chain: chain.Tron, Token: chain.NativeCoin(chain.TVM), Amount: amount(t, "52010000")},
		Receiver:    account(0xb1),
		Authorities: order.Authorities{GivePatch: key(0xa1), Order: account(0xb1), AllowedTaker: account(0xd1), CancelBeneficiary: key(0xa2)},
	}
	paid := amount(t, "52010000")
	return fold(t,
		order.Event{Order: hash(0x0e), At: onSolana(0xc1, 435_046_001, 1_784_948_713), Fact: order.Created{
			Terms: terms, FixFee: amount(t, "15000000"), PercentFee: amount(t, "7200"), ReferralCode: 31_805,
			Affiliate: &order.Affiliate{Beneficiary: key(0xaf), Amount: amount(t, "18000")}, Metadata: metadataV1(t),
		}},
		order.Event{Order: hash(0x0e), At: on(chain.Tron, evmTx(0xf1), 70_000_001, 1_784_948_740), Fact: order.Fulfilled{
			Terms: terms, ActualAmount: &paid, Taker: account(0xd1), UnlockAuthority: account(0xd2),
		}},
		order.Event{Order: hash(0x0e), At: on(chain.Tron, evmTx(0xf2), 70_000_002, 1_784_949_000), Fact: order.Sent{
			Kind: order.Unlock, Beneficiary: key(0xd3), Submission: hash(0x5b),
		}},
		order.Event{Order: hash(0x0e), At: onSolana(0xc2, 435_066_190, 1_784_957_065), Fact: order.Claimed{
			Kind: order.Unlock, Beneficiary: key(0xd3), Paid: amount(t, "17992800"), Submission: hash(0x5b),
		}},
	)
}

// refundedOnTron went from TRON to Solana, where an order is cancelled first and word of it is sent later.
func refundedOnTron(t testing.TB) *order.Order {
	terms := order.Terms{
		Nonce:       1,
		Maker:       account(0xa1),
		Give:        order.Offer{Chain: chain.Tron, Token: chain.NativeCoin(chain.TVM), Amount: amount(t, "640250000")},
		Take:        order.Offer{Chain: chain.Solana, Token: key(0xc6), Amount: amount(t, "190800000")},
		Receiver:    key(0xb1),
		Authorities: order.Authorities{GivePatch: account(0xa1), Order: key(0xb2)},
	}
	return fold(t,
		order.Event{Order: hash(0x0f), At: on(chain.Tron, evmTx(0xc1), 70_000_000, 1_784_948_713), Fact: order.Created{
			Terms: terms, FixFee: amount(t, "4000000"), PercentFee: amount(t, "256203"),
		}},
		order.Event{Order: hash(0x0f), At: onSolana(0xe1, 435_047_001, 1_784_950_000), Fact: order.Cancelled{}},
		order.Event{Order: hash(0x0f), At: onSolana(0xe2, 435_047_777, 1_784_950_300), Fact: order.Sent{
			Kind: order.Cancel, Beneficiary: account(0xa1), Submission: hash(0x5c),
		}},
		order.Event{Order: hash(0x0f), At: on(chain.Tron, evmTx(0xc3), 70_003_000, 1_784_958_000), Fact: order.Claimed{
			Kind: order.Cancel, Beneficiary: account(0xa1), Paid: amount(t, "640506203"), Submission: hash(0x5c),
		}},
	)
}
