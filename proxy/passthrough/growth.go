package passthrough

import (
	"io"
	"sync"
)

// growth is a body that is read for the store and, at the same time, by the client whose request began it.
type growth struct {
	mu      sync.Mutex
	bytes   []byte // only grows
	ended   bool
	err     error         // why it ended; nil if complete
	rest    io.ReadCloser // remainder of a body too long to store, for the client to read; nil if none
	changed chan struct{} // closed at the next change
}

func (g *growth) end(err error, rest io.ReadCloser) {
	g.change(func(g *growth) { g.ended, g.err, g.rest = true, err, rest })
}

func (g *growth) change(do func(*growth)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	do(g)
	close(g.changed)
	g.changed = make(chan struct{})
}

// from returns the bytes from an offset on, whether they are the last, and a channel that closes at the next change.
func (g *growth) from(offset int) (p []byte, ended bool, changed <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.bytes[offset:len(g.bytes):len(g.bytes)], g.ended, g.changed
}

// failure returns why the body ended, nil if it has not or is complete.
func (g *growth) failure() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}

// leave transfers the remainder to the caller, who closes it; nil if there is none or it was already transferred.
func (g *growth) leave() io.ReadCloser {
	g.mu.Lock()
	defer g.mu.Unlock()
	rest := g.rest
	g.rest = nil
	return rest
}
