package order

import (
	"context"
	"time"
)

// Wait returns false when ctx has ended, true after a while or with news; a nil channel has none.
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
