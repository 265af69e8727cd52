package follow

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"crossgate/store"
)

// failureLog logs why a chain is not followed. Only the follower's goroutine uses it.
type failureLog struct {
	logger   *slog.Logger
	loggedAt time.Time // when the current failure was logged; zero: there is none
}

// failed logs why the chain is not followed, unless the store is unavailable, which the store itself logs once. It
// repeats the warning every quarter of an hour; attempts in between are logged at level debug.
func (l *failureLog) failed(ctx context.Context, err error, pause time.Duration) {
	const reminder = 15 * time.Minute
	if errors.Is(err, store.ErrUnavailable) {
		return
	}
	level := slog.LevelDebug
	if time.Since(l.loggedAt) >= reminder {
		level, l.loggedAt = slog.LevelWarn, time.Now()
	}
	l.logger.Log(ctx, level, "chain not followed", "error", err, "retry_in", pause)
}

// recovered logs that the chain is followed again.
func (l *failureLog) recovered(ctx context.Context) {
	if !l.loggedAt.IsZero() {
		l.logger.InfoContext(ctx, "chain followed again")
		l.loggedAt = time.Time{}
	}
}
