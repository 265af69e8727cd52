package evm

import "sync"

// density is how many of something a block has, as far as searches have shown. The zero value knows of none.
type density struct {
	mu       sync.Mutex
	perBlock float64
}

// telling is the least width of a search whose density says something about other blocks.
const telling = 64

// sparser is how much of the known density remains when a search shows less: the next blocks may be busy again.
const sparser = 0.75

// saw learns that blocks have so many, or more where a list was refused for its length.
func (d *density) saw(count int, blocks uint64) {
	if blocks < telling {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	now := float64(count) / float64(blocks)
	d.perBlock = max(now, sparser*d.perBlock+(1-sparser)*now)
}

// now is how many to expect.
func (d *density) now() float64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.perBlock
}
