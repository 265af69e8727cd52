package pages

import (
	"context"
	"math/big"
	"time"

	"crossgate/order"
	"crossgate/order/index"
	"crossgate/token"
)

// pricePatience is how long a page waits for prices, without which it says less.
const pricePatience = 2 * time.Second

// pricesOf are the prices in USD, now, of a whole token of two sides; nil where none is known.
func (s *Pages) pricesOf(ctx context.Context, give, take token.Key) (ofGive, ofTake *big.Rat) {
	ctx, cancel := context.WithTimeout(ctx, pricePatience)
	defer cancel()
	prices := s.options.Tokens.USD(ctx, give, take)
	return prices[give], prices[take]
}

// worthThen is what the amounts of an order were worth at the time; nil where that was not looked up, or cannot be
// known at the moment.
func (s *Pages) worthThen(ctx context.Context, ids []order.ID) *index.Values {
	if len(ids) != 1 {
		return nil
	}
	v, counted, err := s.options.Details.Values(ctx, ids[0])
	if err != nil || !counted {
		return nil
	}
	return &v
}
