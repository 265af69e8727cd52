package gateway

import (
	"context"
	"sync"
	"time"
)

// periodically acts every interval until stop, which has it act once more and waits for that. It does not end with ctx:
// requests may still be under way that change what is to be written.
func periodically(ctx context.Context, interval time.Duration, act func(context.Context)) (stop func()) {
	running, end := context.WithCancel(context.WithoutCancel(ctx))
	var working sync.WaitGroup
	working.Go(func() {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				act(running)
			case <-running.Done():
				act(context.WithoutCancel(running))
				return
			}
		}
	})
	return func() {
		end()
		working.Wait()
	}
}
