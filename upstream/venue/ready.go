package venue

import (
	"context"
	"fmt"
	"time"

	"crossgate/chain"
	"crossgate/quote"
	"crossgate/upstream"
)

// readyLife is how long a price and its transaction are good for. The APIs do not say; it is ours.
const readyLife = 30 * time.Second

// ready is a price that came together with the transaction that takes it, which serves only the wallets it
// was made for.
type ready struct {
	venue             string
	amountOut         chain.Amount
	minimum           chain.Amount // on Solana
	gas               uint64
	tx                quote.Tx
	sender, recipient chain.Address
}

// askReady sends r and reads the answer to both questions at once.
func askReady(ctx context.Context, p *upstream.Pool, r upstream.Request, venue string, s quote.Swap, read func(upstream.Response) (ready, error)) (ready, error) {
	answer, err := ask(ctx, p, r, read)
	if err != nil {
		return ready{}, fmt.Errorf("%s quote on chain %d: %w", venue, s.Chain.ID, err)
	}
	answer.venue, answer.sender, answer.recipient = venue, s.Sender, s.Recipient
	return answer, nil
}

// quote is the price for the comparison.
func (r ready) quote(asked time.Time) quote.Quote {
	return quote.Quote{
		Venue: r.venue, AmountOut: r.amountOut, Minimum: r.minimum, Gas: r.gas, Expires: asked.Add(readyLife), Route: r,
	}
}

// buildReady returns the transaction that came with the quote, or has one made for other wallets.
func buildReady(venue string, s quote.Swap, q quote.Quote, again func() (ready, error)) (quote.Tx, error) {
	offered, ours := q.Route.(ready)
	if !ours || offered.venue != venue {
		return quote.Tx{}, fmt.Errorf("%s build of a quote that is not its own", venue)
	}
	if offered.sender == s.Sender && offered.recipient == s.Recipient {
		return offered.tx, nil
	}
	fresh, err := again()
	if err != nil {
		return quote.Tx{}, err
	}
	if fresh.amountOut.Cmp(q.AmountOut) < 0 {
		return quote.Tx{}, fmt.Errorf("%s: %w: %s instead of %s", venue, ErrPriceMoved, fresh.amountOut, q.AmountOut)
	}
	return fresh.tx, nil
}
