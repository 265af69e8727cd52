package order

import (
	"context"
	"time"
)

// Wait waits for d or a value from news, which may be nil. It returns false if ctx ended first.
func Wait(ctx context.Context, d time.Duration, news <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
	case <-news:
	}
	return true
}
