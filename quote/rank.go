package quote

import (
	"cmp"
	"math/big"
	"slices"

	"crossgate/chain"
)

// rank puts the offers best first: by what is left of the outcome after the public router's shares and after
// paying for gas, in the out token, or by the outcome alone when a price is missing. Of equal ones the one
// with less gas comes first.
func (c *comparison) rank(s Swap) {
	for _, o := range c.offers {
		o.score = afterGas(o.outcome.net(), o.gas(), s, c.prices)
	}
	slices.SortStableFunc(c.offers, func(a, b *offer) int {
		if order := b.score.Cmp(a.score); order != 0 {
			return order
		}
		return cmp.Compare(a.gas(), b.gas())
	})
}

// measure is the score of a transaction that was tried: by what was seen in place of what was promised. The
// second one has what it costs beside gas taken off.
func (b *built) measure(s Swap, m market) (score, final *big.Int) {
	score = afterGas(b.received(), b.gas(), s, m)
	final = score
	if fee := m.inOut(b.dataFee.Add(b.placed), s); fee != nil {
		final = new(big.Int).Sub(score, fee)
	}
	return score, final
}

// afterGas is what is left of an amount of the out token after paying for gas; negative when gas costs more.
func afterGas(amount chain.Amount, gas uint64, s Swap, m market) *big.Int {
	left := amount.Big()
	if cost := m.inOut(gasCost(gas, s.GasPrice), s); cost != nil {
		left.Sub(left, cost)
	}
	return left
}

// list is the comparison as the answer shows it: every venue once, by its better way, the one whose
// transaction it is first. One price serves all, so that values differ only where amounts do.
func (c *comparison) list(s Swap) []Compared {
	var list []Compared
	shown := map[string]bool{}
	add := func(p Profile, amount chain.Amount) {
		if shown[p.Name] {
			return
		}
		shown[p.Name] = true
		list = append(list, Compared{
			Name: p.Name, Amount: amount, USD: c.prices.out.of(amount, s.Out.Token.Decimals), ImageURL: p.ImageURL,
		})
		list[len(list)-1].PriceDrop = priceDrop(amount, list[0].Amount)
	}
	add(c.won.profile, c.won.received())
	rest := slices.Clone(c.offers)
	for i := range c.lost {
		rest = append(rest, &c.lost[i].offer)
	}
	slices.SortStableFunc(rest, func(a, b *offer) int { return b.score.Cmp(a.score) })
	for _, o := range rest {
		add(o.profile, c.amountOf(o))
	}
	return list
}

// amountOf is what the recipient would get of an offer, as it was seen where it was tried.
func (c *comparison) amountOf(o *offer) chain.Amount {
	for _, b := range c.lost {
		if b.is(o) {
			return b.received()
		}
	}
	return o.outcome.net()
}

// priceDrop is how far amount is below best, in percent of best with two decimals. A venue that pays more
// than the best but costs more gas than that has 0.
func priceDrop(amount, best chain.Amount) float64 {
	missing := best.Sub(amount)
	if missing.IsZero() {
		return 0
	}
	hundredths := new(big.Int).Mul(missing.Big(), big.NewInt(10_000))
	rounded := hundredths.Add(hundredths, new(big.Int).Rsh(best.Big(), 1)).Quo(hundredths, best.Big())
	return float64(rounded.Uint64()) / 100
}
