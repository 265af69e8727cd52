package pages

import (
	"bytes"
	"math/big"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/proxy/orders"
	"crossgate/proxy/wire"
	"crossgate/token"
)

var (
	usdc = token.Token{Decimals: 6, Name: "USD Coin", Symbol: "USDC", LogoURI: "https://logos.example/usdc.png"}
	pol  = token.Token{Decimals: 18, Name: "Polygon", Symbol: "POL"}
)

// addressOn returns a recognisable address of a chain's family.
func addressOn(id chain.ID, b byte) chain.Address {
	length := 20
	if id == chain.Solana {
		length = 32
	}
	return chain.NewAddress(bytes.Repeat([]byte{b}, length))
}

// event returns an event of the order in a transaction on a chain.
func event(id chain.ID, tx byte, block, time uint64, fact order.Fact) order.Event {
	length := 32
	if id == chain.Solana {
		length = 64
	}
	return order.Event{Order: order.ID{0x0d}, Fact: fact, At: order.At{
		Chain: id, Tx: chain.NewTxHash(bytes.Repeat([]byte{tx}, length)), Block: block, Time: time, Initiator: addressOn(id, 0x77),
	}}
}

// recordOf returns an order of 17.9928 USDC in the state that the name describes.
func recordOf(name string) *wire.Record {
	give, take := chain.ID(8453), chain.ID(137)
	switch name {
	case "to Solana":
		take = chain.Solana
	case "from TRON to Solana":
		give, take = chain.Tron, chain.Solana
	}
	r, paid := &wire.Record{Give: usdc, Take: pol}, chain.NewAmount(17_279_551)
	terms := order.Terms{
		Nonce: 1, Maker: addressOn(give, 0xa1), Receiver: addressOn(take, 0xb1), Authorities: order.Authorities{AllowedTaker: addressOn(take, 0xd1)},
		Give: order.Offer{Chain: give, Token: addressOn(give, 0x83), Amount: chain.NewAmount(17_992_800)},
		Take: order.Offer{Chain: take, Token: addressOn(take, 0xc6), Amount: paid},
	}
	if take == chain.Solana {
		r.Take = usdc
	} else {
		paid, _ = chain.ParseAmount("20007232907790001234567890")
		terms.Take.Token, terms.Take.Amount = chain.NativeCoin(chain.EVM), paid
	}
	if name == "claimed" {
		terms.ExternalCall = []byte{0xca, 0x11}
	}
	created := event(give, 0xc1, 49_079_683, 1_784_948_713, order.Created{Terms: terms, FixFee: chain.NewAmount(1e15), PercentFee: chain.NewAmount(7200)})
	fulfilled := event(take, 0xf1, 71_000_001, 1_784_948_719, order.Fulfilled{Terms: terms, ActualAmount: &paid, Taker: addressOn(take, 0xd1)})
	cancelled := event(take, 0xe1, 71_000_009, 1_784_950_000, order.Sent{Kind: order.Cancel})
	refunded := event(give, 0xe2, 49_084_000, 1_784_958_000, order.Claimed{Kind: order.Cancel})
	r.Order, _ = order.Fold(map[string][]order.Event{
		"created": {created},
		"claimed": {
			created, fulfilled, event(take, 0xf2, 71_000_002, 1_784_948_800, order.Sent{Kind: order.Unlock}),
			event(take, 0xf3, 71_000_003, 1_784_948_801, order.ExternalCall{Step: order.CallExecuted}),
			event(give, 0xc2, 49_083_884, 1_784_957_115, order.Claimed{Kind: order.Unlock}),
		},
		"cancelled":           {created, cancelled, refunded},
		"to Solana":           {created, fulfilled},
		"from TRON to Solana": {created, event(take, 0xe3, 435_047_001, 1_784_949_000, order.Cancelled{}), cancelled, refunded},
		"creation not seen":   {fulfilled},
	}[name])
	return r
}

// twoOf1234 returns two rows of a longer list.
func twoOf1234() *orders.Listed {
	return &orders.Listed{Total: 1234, Records: []wire.Listed{{Order: recordOf("claimed")}, {Order: recordOf("created")}}}
}

// lockedAssets returns two tokens, one without a price, in four orders.
func lockedAssets() *orders.Locked {
	give := token.Key{Chain: 8453, Address: addressOn(8453, 0x83)}
	coin := token.Key{Chain: chain.Tron, Address: chain.NativeCoin(chain.TVM)}
	return &orders.Locked{
		Worth: wire.Worth{
			Tokens: map[token.Key]token.Token{give: usdc, coin: {Decimals: 6, Name: "TRON", Symbol: "TRX"}},
			USD:    map[token.Key]*big.Rat{give: big.NewRat(9998, 10_000)},
		},
		Chains: []order.LockedChain{
			{Chain: give.Chain, Tokens: []order.LockedToken{{Token: give.Address, Amount: chain.NewAmount(35_985_601), Targets: []order.LockedTarget{
				{Chain: 137, Amount: chain.NewAmount(17_992_800), Orders: []order.ID{{1}}},
				{Chain: chain.Solana, Amount: chain.NewAmount(17_992_801), Orders: []order.ID{{2}, {3}}},
			}}}},
			{Chain: coin.Chain, Tokens: []order.LockedToken{{Token: coin.Address, Amount: chain.NewAmount(7), Targets: []order.LockedTarget{
				{Chain: 8453, Amount: chain.NewAmount(7), Orders: []order.ID{{4}}},
			}}}},
		},
	}
}
