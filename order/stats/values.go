package stats

import (
	"cmp"
	"context"
	"math/big"

	"crossgate/chain"
	"crossgate/order"
)

// Priced identifies a price: of a token, all zeros for the coin, at a time in UNIX seconds.
type Priced struct {
	Chain chain.ID
	Token chain.Address
	At    uint64
}

// PriceSource returns prices of one smallest unit in USD. It omits unknown prices.
type PriceSource func(context.Context, []Priced) map[Priced]*big.Rat

// priceStep is the resolution of price times in seconds: orders in the same hour share prices.
const priceStep = 3600

// Values are the values of an order's amounts in millionths of a USD, nil for unknown values and absent amounts: Taken
// at the delivery, the others at the creation. Fee is the sum of both protocol fees. Margin is an order.Margin; it is
// also nil for orders reserved for one taker.
type Values struct{ Given, Taken, Fee, Affiliate, Margin *int64 }

// mostWorth is the largest plausible value of one amount: a price that yields more is wrong.
const mostWorth = 1_000_000_000_000_000 // a billion USD

// priced returns the key of a token's price at the time of an event.
func priced(id chain.ID, token chain.Address, at order.At) Priced {
	return Priced{Chain: id, Token: token, At: at.Time / priceStep * priceStep}
}

// pricesOf returns the keys of the prices needed to value an order whose creation is known.
func pricesOf(o *order.Order) []Priced {
	give := o.Terms.Give
	take := o.Terms.Take
	wanted := []Priced{priced(give.Chain, give.Token, o.Created.At), coinOf(o), priced(take.Chain, take.Token, o.Created.At)}
	if o.Fulfilled != nil {
		wanted = append(wanted, priced(take.Chain, take.Token, o.Fulfilled.At))
	}
	return wanted
}

// coinOf returns the key of the price of the coin that the fixed fee is paid in.
func coinOf(o *order.Order) Priced {
	native := chain.NewAddress(make([]byte, max(o.Terms.Give.Token.Len(), 1)))
	return priced(o.Terms.Give.Chain, native, o.Created.At)
}

// valuesOf values an order whose creation is known. It keeps earlier values if prices are missing now.
func valuesOf(o *order.Order, before Values, prices map[Priced]*big.Rat) Values {
	created := o.Created.Fact
	give := prices[priced(o.Terms.Give.Chain, o.Terms.Give.Token, o.Created.At)]
	v := Values{Given: micros(o.GiveFinal, give)}
	asked := micros(o.TakeFinal, prices[priced(o.Terms.Take.Chain, o.Terms.Take.Token, o.Created.At)])
	isKept := !o.Terms.Authorities.AllowedTaker.IsAbsent() // reserved for one taker
	if v.Given != nil && asked != nil && *v.Given > 0 && !isKept {
		margin := int64(order.MarginOf(float64(*v.Given), float64(*asked)))
		v.Margin = &margin
	}
	v.Fee = sum(micros(created.FixFee, prices[coinOf(o)]), micros(*o.FinalPercentFee, give))
	if created.Affiliate != nil {
		v.Affiliate = micros(created.Affiliate.Amount, give)
	}
	if o.Fulfilled != nil {
		v.Taken = micros(o.TakeFinal, prices[priced(o.Terms.Take.Chain, o.Terms.Take.Token, o.Fulfilled.At)])
	}
	return Values{
		Given:     cmp.Or(v.Given, before.Given),
		Taken:     cmp.Or(v.Taken, before.Taken),
		Fee:       cmp.Or(v.Fee, before.Fee),
		Affiliate: cmp.Or(v.Affiliate, before.Affiliate),
		Margin:    cmp.Or(v.Margin, before.Margin),
	}
}

// isWhole reports whether every part of an order's value is known.
func (v Values) isWhole(o *order.Order) bool {
	return v.Given != nil && v.Fee != nil && (v.Taken != nil || o.Fulfilled == nil) && (v.Affiliate != nil || o.Created.Fact.Affiliate == nil)
}

// micros returns the value of an amount in millionths of a USD, rounded down; nil if the price is not known or
// implausible. An amount of zero is worth zero at any price.
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
