package evm

import (
	"cmp"
	"context"
	"slices"

	"crossgate/chain"
	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

// blockTimes finds the times of blocks by as few of their headers as the chain's consensus allows. Where that keeps
// blocks a least time apart (chain.Spacing), two headers between which no more than that has passed pin the times of
// all blocks between them, to the second. Between others the header in the middle is read, and so on: never more
// headers than there are blocks whose times are wanted.
//
// Two headers between which less has passed show that one of them was altered, or that consensus is another one by now:
// then all headers are read, as while the spacing is on probation.
type blockTimes struct {
	spacing       chain.Spacing
	isOnProbation bool          // the spacing, which was contradicted lately
	blocks        []*timedBlock // by ascending number
	open          []interval    // whose ends are being read
	isBegun       bool
	isWrong       bool // the spacing, by the headers
}

// timedBlock is a block of which the time is wanted.
type timedBlock struct {
	number uint64
	hash   chain.Hash
	header *header // nil: not read
	pinned uint64  // UNIX seconds, where headers before and after it tell that; else 0
}

// interval is between two blocks with headers, by their places.
type interval struct{ first, last int }

// leastPinned is from how many blocks on a header less is worth a round trip more.
const leastPinned = 8

// blockTimes returns those of blocks. Somebody who waits is not kept waiting for the sake of fewer headers.
func (c *Chain) blockTimes(ctx context.Context, blocks []*timedBlock) *blockTimes {
	slices.SortFunc(blocks, func(a, b *timedBlock) int { return cmp.Compare(a.number, b.number) })
	t := &blockTimes{blocks: blocks}
	distinct := slices.CompactFunc(slices.Clone(blocks), func(a, b *timedBlock) bool { return a.number == b.number })
	isClear := len(distinct) == len(blocks) // of two hashes of one number one is wrong, which its header shows
	if isClear && upstream.IsBackground(ctx) {
		t.spacing, t.isOnProbation = c.chain.Spacing, c.probation.isOn()
	}
	return t
}

func (b *timedBlock) time() uint64 {
	if b.header != nil {
		return uint64(b.header.Timestamp)
	}
	return b.pinned
}

// cost is how many headers were read, for the times in how many blocks.
func (t *blockTimes) cost() (headers int, blocks uint64) {
	if len(t.blocks) == 0 {
		return 0, 0
	}
	for _, b := range t.blocks {
		if b.header != nil {
			headers++
		}
	}
	return headers, t.blocks[len(t.blocks)-1].number - t.blocks[0].number + 1
}

// next returns the blocks whose headers are to be read now; none when all times are known.
func (t *blockTimes) next() []*timedBlock {
	if !t.isBegun {
		t.isBegun = true
		return t.ends()
	}
	open := t.open
	t.open = nil
	var wanted []*timedBlock
	for _, i := range open {
		wanted = append(wanted, t.between(i)...)
	}
	if !t.isWrong {
		return wanted
	}
	t.open = nil
	return slices.DeleteFunc(slices.Clone(t.blocks), func(b *timedBlock) bool { return b.header != nil })
}

// ends returns the first and the last block of which the spacing holds, and all before.
func (t *blockTimes) ends() []*timedBlock {
	first, last := t.firstSpaced(), len(t.blocks)-1
	if t.spacing.Least == 0 || t.isOnProbation || last-first < leastPinned {
		return t.blocks
	}
	t.open = []interval{{first, last}}
	return append(slices.Clone(t.blocks[:first+1]), t.blocks[last])
}

// firstSpaced is the place of the first block of which the spacing holds.
func (t *blockTimes) firstSpaced() int {
	first, _ := slices.BinarySearchFunc(t.blocks, t.spacing.From, func(b *timedBlock, from uint64) int { return cmp.Compare(b.number, from) })
	return first
}

// contradiction returns two blocks whose headers, which follow each other among those that were read, are less apart
// than the spacing allows. Where there are none it tells over how many blocks headers agree with it.
func (t *blockTimes) contradiction() (before, after *timedBlock, blocks uint64) {
	if t.spacing.Least == 0 {
		return nil, nil, 0
	}
	for _, b := range t.blocks[t.firstSpaced():] {
		if b.header == nil {
			continue
		}
		if before != nil {
			if t.slack(before, b) < 0 {
				return before, b, 0
			}
			blocks += b.number - before.number
		}
		before = b
	}
	return nil, nil, blocks
}

// slack is by how much two blocks are more apart than the spacing has them, in seconds.
func (t *blockTimes) slack(first, last *timedBlock) int64 {
	return int64(last.time()-first.time()) - int64((last.number-first.number)*t.spacing.Least)
}

// between pins the times of the blocks in an interval, or returns those to be read.
func (t *blockTimes) between(i interval) []*timedBlock {
	first, last, inside := t.blocks[i.first], t.blocks[i.last], t.blocks[i.first+1:i.last]
	least := t.spacing.Least
	slack := t.slack(first, last)
	switch {
	case slack < 0:
		t.isWrong = true
		return nil
	case slack == 0:
		for _, b := range inside {
			b.pinned = first.time() + (b.number-first.number)*least
		}
		return nil
	case uint64(slack) >= uint64(len(inside))*least: // most of them are beside a longer step
		return inside
	}
	middle := (i.first + i.last) / 2
	t.open = append(t.open, interval{i.first, middle}, interval{middle, i.last})
	return t.blocks[middle : middle+1]
}

// headerCalls ask for the headers of blocks by their hashes.
func headerCalls(blocks []*timedBlock) []*jsonrpc.Call {
	calls := make([]*jsonrpc.Call, len(blocks))
	for i, b := range blocks {
		calls[i] = headerByHashCall(&b.header, b.hash)
	}
	return calls
}
