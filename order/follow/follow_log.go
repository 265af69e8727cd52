package follow

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"crossgate/store"
)

// FailureLog is what the log is told of a chain that is not followed. Only the follower's goroutine tells it anything.
type FailureLog struct {
	Logger *slog.Logger
	told   time.Time // when the log was told of the present failure; zero: there is none
}

// Failed logs why the chain is not followed, unless the store is unavailable, which it logs once itself. Of a failure
// that lasts it reminds every quarter of an hour; each attempt is told at level debug.
func (l *FailureLog) Failed(ctx context.Context, err error, pause time.Duration) {
	const reminder = 15 * time.Minute
	if errors.Is(err, store.ErrUnavailable) {
		return
	}
	level := slog.LevelDebug
	if time.Since(l.told) >= reminder {
		level, l.told = slog.LevelWarn, time.Now()
	}
	l.Logger.Log(ctx, level, "chain not followed", "error", err, "retry_in", pause)
}

// Recovered logs that the chain is followed again.
func (l *FailureLog) Recovered(ctx context.Context) {
	if !l.told.IsZero() {
		l.Logger.InfoContext(ctx, "chain followed again")
		l.told = time.Time{}
	}
}
