package evm

import (
	"context"
	"sync"
)

// probationBlocks is over how many blocks headers have to agree with a chain's spacing before it is used again, once some
// have contradicted it.
const probationBlocks = 10_000

// probation is whether a chain's spacing is used. Headers that contradict it may have been altered by an endpoint, or be
// of a consensus that is another one by now: then the headers of all blocks with events are read, each compared with the
// one before, until those over probationBlocks have agreed. So a chain whose blocks have become faster is taken for what
// it was only in blocks from before that. The zero value uses the spacing; safe for concurrent use.
type probation struct {
	mu      sync.Mutex
	missing uint64 // blocks that have to agree yet; zero: the spacing is used
	isSaid  bool   // that it was contradicted
}

func (p *probation) isOn() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.missing > 0
}

// agreed learns that headers over so many blocks agree with the spacing.
func (p *probation) agreed(blocks uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.missing -= min(p.missing, blocks)
}

// failed learns that headers contradict the spacing, and reports whether that is the first time.
func (p *probation) failed() (isFirst bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	isFirst = !p.isSaid
	p.missing, p.isSaid = probationBlocks, true
	return isFirst
}

// judgeSpacing compares the chain's spacing with the headers that were read for times, and logs the first contradiction.
func (c *Chain) judgeSpacing(ctx context.Context, read *blockTimes) {
	before, after, blocks := read.contradiction()
	switch {
	case before == nil && read.isOnProbation:
		c.probation.agreed(blocks)
	case before != nil && c.probation.failed() && c.log != nil:
		c.log.WarnContext(ctx, "times of blocks contradict the chain's spacing; headers are read of all blocks with events until they agree again",
			"chain", int64(c.chain.ID), "before", before.number, "after", after.number, "seconds", int64(after.time()-before.time()),
			"least", (after.number-before.number)*read.spacing.Least)
	}
}
