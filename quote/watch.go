package quote

import (
	"context"
	"time"

	"crossgate/chain"
)

// Heard is what one venue answered while others were still being asked.
type Heard struct {
	Venue     string
	AmountOut chain.Amount // as quoted; zero beside Err
	Took      time.Duration
	Err       error
}

type watcherKey struct{}

// WithWatcher has an Estimate under the returned context call heard with each answer of a venue as it comes. It is
// called from the goroutine of the quote round, which it must not hold up. A round that another request began, or that
// has ended, is not told of.
func WithWatcher(ctx context.Context, heard func(Heard)) context.Context {
	return context.WithValue(ctx, watcherKey{}, heard)
}

// Tell tells who watches what has been heard.
func Tell(ctx context.Context, h Heard) {
	if heard, watched := ctx.Value(watcherKey{}).(func(Heard)); watched {
		heard(h)
	}
}
