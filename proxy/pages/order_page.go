package pages

import (
	"context"
	"math/big"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/index"
	"crossgate/token"
)

// pricePatience is how long a page waits for prices, without which it says less.
const pricePatience = 2 * time.Second

// sidePrices are the prices in USD, now, of a whole token of each side of an order's record; nil where none is known.
func (s *Pages) sidePrices(ctx context.Context, record []byte) (give, take *big.Rat) {
	giveSide, takeSide := Sides(record)
	return s.pricesOf(ctx, giveSide, takeSide)
}

// pricesOf are the prices in USD, now, of a whole token of two sides; nil where none is known.
func (s *Pages) pricesOf(ctx context.Context, give, take Side) (ofGive, ofTake *big.Rat) {
	ctx, cancel := context.WithTimeout(ctx, pricePatience)
	defer cancel()
	of := func(side Side) token.Key {
		address, err := chain.ParseAddress(side.Token, s.chains.Family(side.Chain))
		if err != nil {
			return token.Key{}
		}
		return token.Key{Chain: side.Chain, Address: address}
	}
	g, t := of(give), of(take)
	prices := s.options.Tokens.USD(ctx, g, t)
	return prices[g], prices[t]
}

// worthThen is what the amounts of an order were worth at the time; nil where that was not looked up, or cannot be
// known at the moment.
func (s *Pages) worthThen(ctx context.Context, ids []order.ID) *Then {
	if len(ids) != 1 {
		return nil
	}
	v, counted, err := s.options.Details.Values(ctx, ids[0])
	if err != nil || !counted {
		return nil
	}
	return &Then{Given: dollarsOf(v.Given), Taken: dollarsOf(v.Taken), Fees: dollarsOf(v.Fee)}
}

// dollarsOf is millionths of a USD in USD; nil stays nil.
func dollarsOf(micros *int64) *big.Rat {
	if micros == nil {
		return nil
	}
	return big.NewRat(*micros, 1_000_000)
}

// readOf is how far the chains of an answer were read.
func readOf(b index.Basis) []Read {
	read := make([]Read, len(b.Chains))
	for i, c := range b.Chains {
		read[i] = Read{
			Chain: c.Chain, IsFollowed: c.Followed, From: c.From.Number, Block: c.Indexed, Proven: c.Proven, IsFinal: c.Final,
		}
	}
	return read
}
