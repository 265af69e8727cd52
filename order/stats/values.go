package stats

import (
	"context"
	"math/big"

	"crossgate/chain"
	"crossgate/order"
)

// Priced names a price: of a token, all zero for the coin, at a time in UNIX seconds.
type Priced struct {
	Chain chain.ID
	Token chain.Address
	At    uint64
}

// PriceSource returns prices of one smallest unit in USD. Prices that it does not know are left out.
type PriceSource func(context.Context, []Priced) map[Priced]*big.Rat

// priceStep is how exactly times of prices are asked for: orders of the same hour share them.
const priceStep = 3600

// Values are what an order's amounts were worth in millionths of a USD, nil for unknown ones and absent amounts: taken
// at the delivery, the others at the creation. Fee is both fees of the protocol. Margin is an order.Margin; nil also
// for orders that are kept for one taker.
type Values struct{ Given, Taken, Fee, Affiliate, Margin *int64 }

// mostWorth is the largest value of one amount that is believed: a price by which an order is worth more is nonsense.
const mostWorth = 1_000_000_000_000_000 // a billion USD

// priced names the price of a token when something happened.
func priced(id chain.ID, token chain.Address, at order.At) Priced {
	return Priced{Chain: id, Token: token, At: at.Time / priceStep * priceStep}
}

// pricesOf names the prices that an order whose creation is known is valued at.
func pricesOf(o *order.Order) []Priced {
	give := o.Terms.Give
	take := o.Terms.Take
	wanted := []Priced{priced(give.Chain, give.Token, o.Created.At), coinOf(o), priced(take.Chain, take.Token, o.Created.At)}
	if o.Fulfilled != nil {
		wanted = append(wanted, priced(take.Chain, take.Token, o.Fulfilled.At))
	}
	return wanted
}

// coinOf names the price of the coin that the fixed fee is paid in.
func coinOf(o *order.Order) Priced {
	native := chain.NewAddress(make([]byte, max(o.Terms.Give.Token.Len(), 1)))
	return priced(o.Terms.Give.Chain, native, o.Created.At)
}

// valuesOf values an order whose creation is known. A value from before stays where prices are missing now.
func valuesOf(o *order.Order, before Values, prices map[Priced]*big.Rat) Values {
	created := o.Created.Fact
	give := prices[priced(o.Terms.Give.Chain, o.Terms.Give.Token, o.Created.At)]
	v := Values{Given: micros(o.GiveFinal, give)}
	asked := micros(o.TakeFinal, prices[priced(o.Terms.Take.Chain, o.Terms.Take.Token, o.Created.At)])
	isKept := !o.Terms.Authorities.AllowedTaker.IsAbsent() // for one taker alone
	if v.Given != nil && asked != nil && *v.Given > 0 && !isKept {
		margin := int64(order.MarginOf(float64(*v.Given), float64(*asked)))
		v.Margin = &margin
	}
	percent := created.PercentFee
	if o.FinalPercentFee != nil {
		percent = *o.FinalPercentFee
	}
	v.Fee = sum(micros(created.FixFee, prices[coinOf(o)]), micros(percent, give))
	if created.Affiliate != nil {
		v.Affiliate = micros(created.Affiliate.Amount, give)
	}
	if o.Fulfilled != nil {
		v.Taken = micros(o.TakeFinal, prices[priced(o.Terms.Take.Chain, o.Terms.Take.Token, o.Fulfilled.At)])
	}
	for _, part := range []struct{ now, was **int64 }{
		{&v.Given, &before.Given},
		{&v.Fee, &before.Fee},
		{&v.Affiliate, &before.Affiliate},
		{&v.Taken, &before.Taken},
		{&v.Margin, &before.Margin},
	} {
		if *part.now == nil {
			*part.now = *part.was
		}
	}
	if o.Fulfilled == nil {
		v.Taken = nil // a value from before a reorg
	}
	return v
}

// isWhole reports whether nothing of an order's value is unknown.
func (v Values) isWhole(o *order.Order) bool {
	return v.Given != nil && v.Fee != nil && (v.Taken != nil || o.Fulfilled == nil) && (v.Affiliate != nil || o.Created.Fact.Affiliate == nil)
}

// micros is the value of an amount in millionths of a USD, rounded down; nil when the price is not known. Nothing is
// worth nothing at any price.
func micros(a chain.Amount, usd *big.Rat) *int64 {
	if a.IsZero() {
		return new(int64)
	}
	if usd == nil {
		return nil
	}
	value := new(big.Rat).Mul(new(big.Rat).SetInt(a.Big()), usd)
	value.Mul(value, big.NewRat(1_000_000, 1))
	whole := new(big.Int).Quo(value.Num(), value.Denom())
	if !whole.IsInt64() || whole.Int64() > mostWorth {
		return nil
	}
	n := whole.Int64()
	return &n
}

func sum(a, b *int64) *int64 {
	if a == nil || b == nil {
		return nil
	}
	n := *a + *b
	return &n
}
