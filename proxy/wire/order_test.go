package wire

import (
	"testing"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/token"
)

var pol = token.Token{Decimals: 18, Name: "Polygon", Symbol: "POL", LogoURI: "https://logos.example/pol.png"}

func TestAppendOrderOfEveryForm(t *testing.T) {
	for name, record := range map[string]Record{
		"order_created":          {Order: fold(t, plainOrder(t)), Give: usdc, Take: pol},
		"order_claimed":          {Order: claimedOrder(t), Give: usdc, Take: pol, PreswapIn: pol},
		"order_cancelled":        {Order: cancelledOrder(t), Give: usdc, Take: pol},
		"order_unknown_creation": {Order: fold(t, fulfilment(t)), Give: usdc, Take: pol},
		"order_unknown_creation_patched": {
			Order: fold(t, fulfilment(t), order.Event{
				Order: hash(0x0d), At: on(base, evmTx(0xc3), 49_079_700, 1_784_948_740),
				Fact: order.GiveIncreased{Final: amount(t, "18992400"), FinalPercentFee: amount(t, "7600")},
			}),
			Give: usdc, Take: pol,
		},
	} {
		t.Run(name, func(t *testing.T) { checkGolden(t, name, documented.AppendOrder(nil, record)) })
	}
}

// fulfilment is the delivery of an order whose creation is not known.
func fulfilment(t testing.TB) order.Event {
	return order.Event{Order: hash(0x0d), At: on(polygon, evmTx(0xf1), 7, 1_784_948_720), Fact: order.Fulfilled{
		Terms: plainOrder(t).Fact.(order.Created).Terms, Taker: account(0xd1), UnlockAuthority: account(0xd2),
	}}
}

// claimedOrder has everything an order can have on its way to the taker's payment.
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

// cancelledOrder was refunded, after a patch had raised what was given.
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
