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

// WithWatcher has heard called with each venue's answer, from the round's goroutine, which it must not hold up. Rounds
// that other requests began are not reported.
func WithWatcher(ctx context.Context, heard func(Heard)) context.Context {
	return context.WithValue(ctx, watcherKey{}, heard)
}

// Report hands an answer to the watcher.
func Report(ctx context.Context, h Heard) {
	if heard, watched := ctx.Value(watcherKey{}).(func(Heard)); watched {
		heard(h)
	}
}
