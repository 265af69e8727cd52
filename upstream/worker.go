package upstream

import (
	"context"
	"sync"
)

// worker runs an endpoint's background work, one task at a time.
type worker struct {
	working sync.WaitGroup
	mu      sync.Mutex
	isBusy  bool
	stop    context.CancelFunc // cancels the latest work; nil: there was none
	isOver  bool
}

// begin starts work in the background unless other work is under way or the worker is closed.
func (w *worker) begin(work func(context.Context)) (begun bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.isOver || w.isBusy {
		return false
	}
	ctx, cancel := context.WithCancel(context.Background())
	w.isBusy, w.stop = true, cancel
	w.working.Go(func() {
		defer cancel()
		work(ctx)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.isBusy = false
	})
	return true
}

// close cancels the work under way and waits for it; none can begin from then on.
func (w *worker) close() {
	w.mu.Lock()
	w.isOver = true
	if w.stop != nil {
		w.stop()
	}
	w.mu.Unlock()
	w.working.Wait()
}
