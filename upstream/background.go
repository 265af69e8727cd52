package upstream

import (
	"context"
	"time"
)

type backgroundKey struct{}

// InBackground marks calls that nobody waits for, such as following a chain. They leave half of an endpoint's
// burst to the others and take their turn when those are done.
func InBackground(ctx context.Context) context.Context {
	return context.WithValue(ctx, backgroundKey{}, true)
}

// IsBackground reports whether ctx is that of a call that nobody waits for.
func IsBackground(ctx context.Context) bool { return ctx.Value(backgroundKey{}) != nil }

// yield waits, as long as ctx lives, until calls in the background may be made: as many others could still
// be made at once. When ctx is too short for that it returns after what time to ask again.
func (b *budget) yield(ctx context.Context, cost int) (retryAfter time.Duration, ok bool, err error) {
	for {
		wait := b.untilSpare(cost)
		if wait <= 0 {
			return 0, true, nil
		}
		if deadline, limited := ctx.Deadline(); limited && time.Now().Add(wait).After(deadline) {
			return wait, false, nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return 0, false, ctx.Err()
		}
	}
}

// untilSpare returns how long it takes, if nobody else calls, until cost calls leave half of the burst; a
// call that is larger than the other half waits for the whole of it.
func (b *budget) untilSpare(cost int) time.Duration {
	if b.limiter == nil {
		return 0
	}
	burst := float64(b.limiter.Burst())
	missing := min(float64(max(cost, 1))+burst/2, burst) - b.limiter.Tokens()
	if missing <= 0 {
		return 0
	}
	return max(time.Duration(missing/float64(b.limiter.Limit())*float64(time.Second)), time.Millisecond)
}
