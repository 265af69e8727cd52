package upstream

import (
	"context"
	"time"
)

type backgroundKey struct{}

// InBackground marks calls that nobody waits for, such as following a chain. They leave half of an endpoint's
// burst to the others, and give way to them.
func InBackground(ctx context.Context) context.Context {
	return context.WithValue(ctx, backgroundKey{}, true)
}

// IsBackground reports whether ctx is that of a call that nobody waits for.
func IsBackground(ctx context.Context) bool { return ctx.Value(backgroundKey{}) != nil }

// yield waits, as long as ctx lives, until calls in the background may be made: when half of the burst would be left.
// When the deadline of ctx is too early for that, it returns when to retry.
func (b *budget) yield(ctx context.Context, cost int) (retryAfter time.Duration, ok bool, err error) {
	for {
		wait := b.untilHalfFree(cost)
		if wait <= 0 {
			return 0, true, nil
		}
		if retryAfter, ok, err = await(ctx, wait); !ok {
			return retryAfter, false, err
		}
	}
}

// untilHalfFree returns how long it takes, if nobody else calls, until cost units leave half of the burst; a
// call that is larger than the other half waits for the whole of it.
func (b *budget) untilHalfFree(cost int) time.Duration {
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
