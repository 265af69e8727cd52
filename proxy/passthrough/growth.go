package passthrough

import (
	"io"
	"sync"
)

// growth is a body that is being read for the store, and by the client whose request began it at the same time.
type growth struct {
	mu      sync.Mutex
	bytes   []byte // only grows
	ended   bool
	err     error         // by which it ended; nil: all of it came
	rest    io.ReadCloser // after bytes, of a body too long for the store, left to the reader; nil: it is not too long
	changed chan struct{} // closed with the next change
}

// end says that no more comes.
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

// from returns the bytes from an offset on, whether they are all, and a channel that closes with the next change.
func (g *growth) from(offset int) (p []byte, ended bool, changed <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.bytes[offset:len(g.bytes):len(g.bytes)], g.ended, g.changed
}

// failure is by what it ended; nil: it has not, or all of it came.
func (g *growth) failure() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}

// leave hands the rest over to the caller, who closes it; nil: the body has none, or it was handed over already.
func (g *growth) leave() io.ReadCloser {
	g.mu.Lock()
	defer g.mu.Unlock()
	rest := g.rest
	g.rest = nil
	return rest
}
