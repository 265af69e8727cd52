package quote

import (
	"context"
	"time"

	"crossgate/chain"
)

// Heard is one venue's answer, reported while others are still being asked.
type Heard struct {
	Venue     string
	AmountOut chain.Amount // as quoted; zero with Err
	Took      time.Duration
	Err       error
}

type watcherKey struct{}

// WithWatcher returns a context that reports each venue's answer to heard, which runs in the round's goroutine and must
// not block it. Rounds that other requests began are not reported.
func WithWatcher(ctx context.Context, heard func(Heard)) context.Context {
	return context.WithValue(ctx, watcherKey{}, heard)
}

// Report passes an answer to the watcher, if any.
func Report(ctx context.Context, h Heard) {
	if heard, watched := ctx.Value(watcherKey{}).(func(Heard)); watched {
		heard(h)
	}
}
