package follow

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"crossgate/store"
)

// failureLog logs why a chain is not followed. The follower's goroutine alone uses it.
type failureLog struct {
	logger   *slog.Logger
	loggedAt time.Time // when the present failure was logged; zero: none
}

// failed logs why the chain is not followed, unless the store is unavailable, which it logs once itself. Of a failure
// that lasts it reminds every quarter of an hour; each attempt is logged at level debug.
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
