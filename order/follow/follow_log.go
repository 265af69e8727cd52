package follow

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"crossgate/store"
)

// failureLog is what the log is told of a chain that is not followed. Only the follower's goroutine tells it anything.
type failureLog struct {
	logger *slog.Logger
	told   time.Time // when the log was told of the present failure; zero: there is none
}

// failed logs why the chain is not followed, unless the store is unavailable, which it logs once itself. Of a failure
// that lasts it reminds every quarter of an hour; each attempt is told at level debug.
func (l *failureLog) failed(ctx context.Context, err error, pause time.Duration) {
	const reminder = 15 * time.Minute
	if errors.Is(err, store.ErrUnavailable) {
		return
	}
	level := slog.LevelDebug
	if time.Since(l.told) >= reminder {
		level, l.told = slog.LevelWarn, time.Now()
	}
	l.logger.Log(ctx, level, "chain not followed", "error", err, "retry_in", pause)
}

// recovered logs that the chain is followed again.
func (l *failureLog) recovered(ctx context.Context) {
	if !l.told.IsZero() {
		l.logger.InfoContext(ctx, "chain followed again")
		l.told = time.Time{}
	}
}
