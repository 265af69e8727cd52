package sandbox

import (
	"context"
	"math/big"
	"time"
)

// lowerTake multiplies the take amount, for orders written with the same amount on both sides.
func lowerTake(factor string) term {
	return func(_ *history, p *proposal) {
		share, ok := new(big.Rat).SetString(factor)
		if !ok {
			panic("factor " + factor + " is not a number")
		}
		share.Mul(share, new(big.Rat).SetInt(p.takeAmount))
		p.takeAmount = new(big.Int).Quo(share.Num(), share.Denom())
		p.metadata = orderMetadata(p.takeAmount)
	}
}

// writeOffers tells of the tokens that orders can be about.
func (h *history) writeOffers() {
	coins := h.open(39, "coin for coin, claimed", 0, lot{mainnet, "", "0.5"}, lot{polygon, "", "2985"})
	h.fulfil(40, coins, 2)
	h.sendUnlock(50, 2, coins)
	h.claim(68, coins)

	h.open(111, "eight decimals for the wrapped coin", 4, lot{mainnet, wbtc, "0.25"}, lot{base, "WETH", "7.46"})

	maker := h.open(79, "a token with bytes32 name and symbol, fulfilled", 1, lot{mainnet, mkr, "3.5"}, lot{base, dai, "6269"})
	h.fulfil(80, maker, 1)

	silent := h.open(81, "a token that does not tell its decimals, fulfilled", 2, lot{polygon, mute, "123456789"}, lot{mainnet, usdc, "12.3"})
	h.fulfil(82, silent, 0)
	h.open(109, "a taken token that does not tell its decimals", 3, lot{base, usdc, "20"}, lot{polygon, mute, "200000000"}, receivedBy(5))

	together := h.openTogether(87, "three orders in one transaction",
		h.proposal(87, 0, lot{base, usdc, "500"}, lot{mainnet, usdc, "498"}, nil),
		h.proposal(87, 0, lot{base, "", "0.1"}, lot{polygon, dai, "298.2"}, []term{referral(5)}),
		h.proposal(87, 0, lot{base, dai, "44"}, lot{sonic, usdc, "43.6"}, []term{affiliated("0.2")}),
	)
	h.fulfil(88, together[1], 1)
	h.fulfil(88.5, together[2], 2)
	h.sendUnlock(95, 2, together[2])
	h.openTogether(115, "two orders in one transaction",
		h.proposal(115, 5, lot{sonic, "", "400"}, lot{mainnet, dai, "198.5"}, nil),
		h.proposal(115, 5, lot{sonic, usdc, "30"}, lot{base, usdc, "29.7"}, nil),
	)
}

// writePreswaps tells of orders whose give token was swapped from another in the creating transaction.
func (h *history) writePreswaps() {
	h.openSwapped(108, "created after a swap from the coin", 1, "0.5", lot{mainnet, usdc, "1480"}, lot{base, usdc, "1476.5"}, referral(31805))

	fulfilled := h.openSwapped(86, "created after a swap from a token, fulfilled", 3, "2000", lot{base, "WETH", "0.66"}, lot{mainnet, "", "0.658"})
	h.fulfil(87.2, fulfilled, 0)
}

// openSwapped has a maker swap an amount of coin, or of USDC when the order gives the wrapped coin, into
// what the order gives.
func (h *history) openSwapped(minute float64, title string, maker int, amountIn string, give, take lot, terms ...term) *Order {
	o, p := new(Order), h.proposal(minute, maker, give, take, terms)
	c, _ := h.world.Chain(give.chain)
	in := c.coin()
	if p.giveToken.Address == c.Tokens[0].Address {
		in = c.token(usdc)
	}
	h.at(minute, func(ctx context.Context, at time.Time) (err error) {
		*o, err = h.world.createSwapped(ctx, at, p, in, in.units(amountIn))
		h.world.titles[o.ID] = title
		return err
	})
	return o
}

// writePatches tells of amounts changed after creation, which today's contracts no longer allow.
func (h *history) writePatches() {
	w := h.world
	raised := h.open(12, "give amount raised twice", 4, lot{polygon, usdc, "100"}, lot{base, usdc, "104.5"})
	for i, addition := range []string{"3.5", "1.25"} {
		h.at(19+float64(i), func(ctx context.Context, at time.Time) error {
			return w.patchGive(ctx, at, *raised, w.cast.makers[4], units(addition, 6))
		})
	}
	lowered := h.open(14, "take amount lowered, then fulfilled", 5, lot{mainnet, dai, "700"}, lot{polygon, usdc, "703"})
	h.patchTake(22, lowered, 5, "6.5", 6)
	h.fulfil(23, lowered, 2)

	both := h.open(17, "both amounts patched, claimed", 3, lot{base, usdc, "60"}, lot{sonic, dai, "61"})
	h.at(18, func(ctx context.Context, at time.Time) error {
		return w.patchGive(ctx, at, *both, w.cast.makers[3], units("0.75", 6))
	})
	h.patchTake(25, both, 3, "0.5", 18)
	h.patchTake(25.5, both, 3, "0.9", 18)
	h.fulfil(26, both, 0)
	h.sendUnlock(35, 0, both)
	h.claim(48, both)
}

func (h *history) patchTake(minute float64, o *Order, maker int, subtrahend string, decimals int) {
	h.at(minute, func(ctx context.Context, at time.Time) error {
		return h.world.patchTake(ctx, at, *o, h.world.cast.makers[maker], units(subtrahend, decimals))
	})
}
