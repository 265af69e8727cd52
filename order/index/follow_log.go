package index

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"crossgate/store"
)

// logFailure logs why the chain is not followed, unless the store is unavailable, which it logs once itself. Of a
// failure that lasts it reminds every quarter of an hour; each attempt is told at level debug.
func (f *follower) logFailure(ctx context.Context, err error, pause time.Duration) {
	const reminder = 15 * time.Minute
	if errors.Is(err, store.ErrUnavailable) {
		return
	}
	level := slog.LevelDebug
	if time.Since(f.failureTold) >= reminder {
		level, f.failureTold = slog.LevelWarn, time.Now()
	}
	f.logger.Log(ctx, level, "chain not followed", "error", err, "retry_in", pause)
}

// logRecovery logs that the chain is followed again.
func (f *follower) logRecovery(ctx context.Context) {
	if !f.failureTold.IsZero() {
		f.logger.InfoContext(ctx, "chain followed again")
		f.failureTold = time.Time{}
	}
}
