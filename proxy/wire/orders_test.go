package wire

import (
	"testing"

	"crossgate/chain"
	"crossgate/internal/golden"
	"crossgate/order"
	"crossgate/token"
)

var (
	pol = token.Token{Decimals: 18, Name: "Polygon", Symbol: "POL", LogoURI: "https://logos.example/pol.png"}
	trx = token.Token{Decimals: 6, Name: "TRON", Symbol: "TRX", LogoURI: "https://logos.example/trx.png"}
)

// fulfilment returns the fulfilment of an order whose creation is unknown.
func fulfilment(t testing.TB) order.Event {
	return order.Event{Order: hash(0x0d), At: on(polygon, evmTx(0xf1), 7, 1_784_948_720), Fact: order.Fulfilled{
		Terms: plainOrder(t).Fact.(order.Created).Terms, Taker: account(0xd1), UnlockAuthority: account(0xd2),
	}}
}

// claimedOrder has everything an order can have up to the taker's payment.
func claimedOrder(t testing.TB) *order.Order {
	event := plainOrder(t)
	created := event.Fact.(order.Created)
	created.ReferralCode = 4_000_000_001
	created.Affiliate = &order.Affiliate{Beneficiary: account(0xaf), Amount: amount(t, "18000")}
	created.Metadata = metadataV1(t)
	created.Preswap = &order.Preswap{
		TokenIn: chain.NativeCoin(chain.EVM), TokenOut: account(0x83),
		AmountIn: amount(t, "5000000000000000"), AmountOut: amount(t, "18018000"),
	}
	created.Terms.ExternalCall = []byte{0xca, 0x11}
	created.Terms.Authorities.AllowedTaker = account(0xd1)
	created.Terms.Authorities.CancelBeneficiary = account(0xa2)
	event.Fact = created
	paid := amount(t, "20007232907790001234567890")
	return fold(t, event,
		order.Event{Order: event.Order, At: on(polygon, evmTx(0xf1), 71_000_001, 1_784_948_719), Fact: order.Fulfilled{
			Terms: created.Terms, ActualAmount: &paid, Taker: account(0xd1), UnlockAuthority: account(0xd2),
		}},
		order.Event{Order: event.Order, At: on(polygon, evmTx(0xf2), 71_000_002, 1_784_948_800), Fact: order.Sent{
			Kind: order.Unlock, Beneficiary: account(0xd3), Submission: hash(0x5b),
		}},
		order.Event{Order: event.Order, At: on(polygon, evmTx(0xf3), 71_000_003, 1_784_948_801), Fact: order.ExternalCall{Step: order.CallExecuted}},
		order.Event{Order: event.Order, At: on(base, evmTx(0xc2), 49_083_884, 1_784_957_115), Fact: order.Claimed{
			Kind: order.Unlock, Beneficiary: account(0xd3), Paid: amount(t, "17992800"), Submission: hash(0x5b),
		}},
	)
}

// cancelledOrder was refunded, after a patch had raised its give amount.
func cancelledOrder(t testing.TB) *order.Order {
	event := plainOrder(t)
	return fold(t, event,
		order.Event{Order: event.Order, At: on(base, evmTx(0xc3), 49_079_700, 1_784_948_740), Fact: order.GiveIncreased{
			Final: amount(t, "18992400"), FinalPercentFee: amount(t, "7600"),
		}},
		order.Event{Order: event.Order, At: on(polygon, evmTx(0xe1), 71_000_009, 1_784_950_000), Fact: order.Sent{
			Kind: order.Cancel, Beneficiary: account(0xa1), Submission: hash(0x5c),
		}},
		order.Event{Order: event.Order, At: on(base, evmTx(0xe2), 49_084_000, 1_784_958_000), Fact: order.Claimed{
			Kind: order.Cancel, Beneficiary: account(0xa1), Paid: amount(t, "19000000"),
		}},
	)
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

// onSolana returns a place on Solana: a slot, and a signature of 64 bytes.
func onSolana(signature byte, slot, time uint64) order.At {
	at := on(chain.Solana, solanaTx(signature), slot, time)
	at.Initiator = key(signature)
	return at
}

// claimedOnSolana went from Solana to TRON and was paid, with a share for an affiliate.
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

// refundedOnTron went from TRON to Solana, where an order is cancelled first and the message about it is sent later.
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

func BenchmarkAppendOrder(b *testing.B) {
	for name, o := range map[string]*order.Order{"evm": claimedOrder(b), "solana": solanaOrder(b)} {
		b.Run(name, func(b *testing.B) {
			record := Record{Order: o, Give: usdc, Take: pol, PreswapIn: pol}
			b.ReportAllocs()
			var body []byte
			for b.Loop() {
				body = documented.AppendOrder(body[:0], record)
			}
			b.SetBytes(int64(len(body)))
		})
	}
}

// TestAppendTermsKnowsSevenStatesOfACall requires a cancelled order's call to have a state that the swap API documents,
// because clients generated from its document reject any other.
func TestAppendTermsKnowsSevenStatesOfACall(t *testing.T) {
	event := plainOrder(t)
	created := event.Fact.(order.Created)
	created.Terms.ExternalCall = []byte{0xca, 0x11}
	event.Fact = created
	cancelled := fold(t, event, order.Event{Order: event.Order, At: on(polygon, evmTx(0xe1), 71_000_009, 1_784_950_000), Fact: order.Sent{
		Kind: order.Cancel, Beneficiary: account(0xa1), Submission: hash(0x5c),
	}})
	for form, want := range map[string]string{
		string(documented.AppendTerms(nil, cancelled)): `"externalCallState":"Cancelled"`,
		string(documented.AppendLite(nil, cancelled)):  `"externalCallState":"OrderCancelled"`,
	} {
		golden.Contains(t, "the form", form, want)
	}
}
