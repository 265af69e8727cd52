package venue

import (
	"crossgate/chain"
	"crossgate/quote"
	"crossgate/upstream"
)

// proposal is what an answer says about a swap. Members that an API does not have stay nil, and are not checked.
type proposal struct {
	in      *digits // that the answer is about
	out     digits  // after every fee
	minimum *digits // that the transaction enforces
	gas     digits
	tx      transaction // empty in the answer to a question for a price alone
}

// price is the proposal as a price.
func (o proposal) price(s quote.Swap) (pricedRoute[quote.Tx], error) {
	found := pricedRoute[quote.Tx]{amountOut: o.out.amount(), gas: o.gas.gas()}
	if o.in == nil {
		return found, nil
	}
	return found, checkIn(*o.in, s)
}

// build is the proposal's transaction, which must keep to a promised amount.
func (o proposal) build(p quote.Profile, s quote.Swap, promised chain.Amount) (quote.Tx, error) {
	if o.minimum != nil {
		if err := checkMinimum(*o.minimum, s, promised); err != nil {
			return quote.Tx{}, err
		}
	}
	return o.tx.check(p, s)
}

// reader finds the proposal in an answer.
type reader func(upstream.Response, quote.Profile, quote.Swap) (proposal, error)

// price reads a price alone.
func (read reader) price(resp upstream.Response, p quote.Profile, s quote.Swap) (pricedRoute[quote.Tx], error) {
	_, found, err := read.both(resp, p, s)
	return found, err
}

// both reads a proposal and makes a price of it.
func (read reader) both(
	resp upstream.Response, p quote.Profile, s quote.Swap,
) (o proposal, found pricedRoute[quote.Tx], err error) {
	if o, err = read(resp, p, s); err == nil {
		found, err = o.price(s)
	}
	return o, found, err
}

// priceAndTx reads a price with its transaction.
func (read reader) priceAndTx(resp upstream.Response, p quote.Profile, s quote.Swap) (pricedRoute[quote.Tx], error) {
	o, found, err := read.both(resp, p, s)
	if err == nil {
		found.route, err = o.build(p, s, found.amountOut)
	}
	return found, err
}

// tx reads the transaction for a quote.
func (read reader) tx(resp upstream.Response, p quote.Profile, s quote.Swap, q quote.Quote) (quote.Tx, error) {
	o, found, err := read.both(resp, p, s)
	if err == nil {
		err = checkMoved(found.amountOut, q)
	}
	if err != nil {
		return quote.Tx{}, err
	}
	return o.build(p, s, q.AmountOut)
}
