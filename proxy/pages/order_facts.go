package pages

import (
	"math/big"
	"net/url"
	"slices"
	"time"

	"crossgate/chain"
	"crossgate/proxy/web"
)

// durations say how long an order took from its creation to its delivery, and from there to the taker's payment.
func durations(r recordJSON) []string {
	var said []string
	between := func(what string, from, to *eventJSON) {
		if from != nil && to != nil && to.BlockTimeStamp >= from.BlockTimeStamp { // chains have clocks of their own
			said = append(said, what+" "+web.Took(time.Duration(to.BlockTimeStamp-from.BlockTimeStamp)*time.Second))
		}
	}
	between("delivered in", r.Created, r.Fulfilled)
	between("paid after another", r.Fulfilled, r.ClaimedUnlock.TransactionMetadata)
	between("cancelled after", r.Created, r.Cancelled)
	between("refunded after another", r.Cancelled, r.ClaimedCancel.TransactionMetadata)
	return said
}

func (p *Views) facts(r recordJSON, then *Then) []fact {
	give, take := r.Give.ChainID.chain(), r.Take.ChainID.chain()
	taker := p.account("Taker", take, r.Taker)
	if taker.Text != "" {
		taker.Page, taker.Link = "/locked/"+url.PathEscape(taker.Text), "what is locked for the taker"
	}
	facts := []fact{
		{Name: "Order id", Text: r.OrderID.Text, IsID: true},
		p.account("Maker", give, r.MakerSrc), p.account("Receiver", take, r.ReceiverDst), taker,
		p.account("Allowed taker", take, r.AllowedTakerDst),
		{Name: "Rate", Text: rate(r.Give, r.Take)},
	}
	facts = append(facts, p.fees(r)...)
	if r.Created != nil && then != nil {
		facts = append(facts, fact{Name: "Both fees", Text: worthThen(then.Fees, "created")})
	}
	if r.ActualFulfillAmount != nil {
		delivered := web.AmountOf(r.ActualFulfillAmount.Text, r.Take.Decimals)
		facts = append(facts, fact{Name: "Delivered", Text: delivered.Exact + " " + r.Take.Symbol})
	}
	if r.ExternalCallState != "NoExtCall" {
		facts = append(facts, fact{Name: "External call", Text: r.ExternalCallState})
	}
	return slices.DeleteFunc(facts, func(f fact) bool { return f.Text == "" })
}

// fees say of each fee what it is a part of.
func (p *Views) fees(r recordJSON) []fact {
	var facts []fact
	if r.FinalPercentFee != nil {
		fee := web.AmountOf(r.FinalPercentFee.Text, r.Give.Decimals)
		text := fee.Exact + " " + r.Give.Symbol
		if share := shareOf(r.FinalPercentFee.Text, r.Give.FinalAmount.Text); share != "" {
			text += ", " + share + " % of what the maker paid"
		}
		facts = append(facts, fact{Name: "Percent fee", Text: text})
	}
	if r.FixFee != nil {
		known, _ := p.Chains.Chain(r.Give.ChainID.chain())
		fee := web.AmountOf(r.FixFee.Text, int(known.Coin.Decimals))
		facts = append(facts, fact{Name: "Fixed fee", Text: fee.Exact + " " + known.Coin.Symbol + ", whatever the amount"})
	}
	return facts
}

// shareOf is how many percent a fee is of itself and what is left; empty where there is nothing.
func shareOf(fee, left string) string {
	f, isFee := new(big.Rat).SetString(fee)
	l, isLeft := new(big.Rat).SetString(left)
	if !isFee || !isLeft || f.Sign() == 0 {
		return ""
	}
	share := new(big.Rat).Quo(f, new(big.Rat).Add(f, l))
	return web.Significant(share.Mul(share, big.NewRat(100, 1)))
}

// rate says what one whole token of each side is worth in the other, without any fee.
func rate(give, take offerJSON) string {
	g, isGive := whole(give)
	t, isTake := whole(take)
	if !isGive || !isTake || g.Sign() == 0 || t.Sign() == 0 {
		return ""
	}
	return "1 " + give.Symbol + " for " + web.Significant(new(big.Rat).Quo(t, g)) + " " + take.Symbol +
		", 1 " + take.Symbol + " for " + web.Significant(new(big.Rat).Quo(g, t)) + " " + give.Symbol
}

// whole is the final amount of a side in whole tokens.
func whole(o offerJSON) (*big.Rat, bool) {
	units, is := new(big.Rat).SetString(o.FinalAmount.Text)
	if !is {
		return nil, false
	}
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(o.Decimals)), nil)
	return units.Quo(units, new(big.Rat).SetInt(scale)), true
}

// worth says what the sides of an order were worth when it was created and delivered, and what they are worth now.
func (o Order) worth(r recordJSON) (give, take string) {
	given, taken := "value then not known", "value then not known"
	if o.Then != nil {
		given, taken = worthThen(o.Then.Given, "created"), worthThen(o.Then.Taken, "delivered")
	}
	give, take = worthNow(r.Give, o.Give), worthNow(r.Take, o.Take)
	if r.Created != nil {
		give = given + ", " + give
	}
	if r.Fulfilled != nil {
		take = taken + ", " + take
	}
	return give, take
}

func worthThen(usd *big.Rat, when string) string {
	if usd == nil {
		return "no price then"
	}
	value, _ := usd.Float64()
	return usdText(value) + " when " + when
}

// worthNow says what a side is worth at a price.
func worthNow(o offerJSON, usd *big.Rat) string {
	amount, is := whole(o)
	if !is || usd == nil {
		return "no price now"
	}
	value, _ := amount.Mul(amount, usd).Float64()
	return usdText(value) + " now"
}

// Sides are the chains of a record and the tokens that are given and taken on them, as addresses.
func Sides(record []byte) (give, take Side) {
	r, err := decode[recordJSON](record)
	if err != nil {
		return Side{}, Side{}
	}
	return Side{r.Give.ChainID.chain(), r.Give.TokenAddress.Text}, Side{r.Take.ChainID.chain(), r.Take.TokenAddress.Text}
}

// Side is a token of a record, as the record writes it.
type Side struct {
	Chain chain.ID
	Token string
}
