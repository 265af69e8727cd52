package upstream

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"
)

// logEvery is how often an endpoint's bad answers are logged at most.
const logEvery = time.Minute

// endpointLog logs what an endpoint did wrong.
type endpointLog struct {
	endpoint string       // its name
	to       *slog.Logger // nil: nobody hears of it
	last     atomic.Int64 // UNIX nanoseconds at which a bad answer was logged
}

// badAnswer logs a bad answer, once in a while: an endpoint that gives them is asked again and again.
func (l *endpointLog) badAnswer(ctx context.Context, cause error) {
	now, last := time.Now(), l.last.Load()
	if l.to == nil || now.Sub(time.Unix(0, last)) < logEvery || !l.last.CompareAndSwap(last, now.UnixNano()) {
		return
	}
	l.to.WarnContext(ctx, "endpoint gave a bad answer", "endpoint", l.endpoint, "error", cause)
}

// outOfUse logs that the endpoint is not called for a while.
func (l *endpointLog) outOfUse(ctx context.Context, what string, term time.Duration, reason string) {
	if l.to != nil {
		l.to.WarnContext(ctx, what, "endpoint", l.endpoint, "for", term, "error", reason)
	}
}
