package evm

import (
	"context"
	"math/rand/v2"
	"testing"

	"crossgate/chain"
	"crossgate/upstream"
)

// TestPinnedTimesAreThoseOfHeaders lays out chains at random and compares each time with the block's own.
func TestPinnedTimesAreThoseOfHeaders(t *testing.T) {
	const least = 12
	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 0))
		missed := random.Float64() / 4
		c := &Chain{chain: chain.Chain{Spacing: chain.Spacing{Least: least, From: random.Uint64N(200)}}}
		truth := map[uint64]uint64{}
		var blocks []*timedBlock
		for number, at := uint64(1), uint64(1_700_000_000); number < 1000; number++ {
			at += least
			for random.Float64() < missed {
				at += 1 + random.Uint64N(2*least) // not always whole slots
			}
			if random.Uint64N(10) == 0 {
				blocks, truth[number] = append(blocks, &timedBlock{number: number}), at
			}
		}
		times, read := c.blockTimes(upstream.InBackground(context.Background()), blocks), 0
		for wanted := times.next(); len(wanted) > 0; wanted = times.next() {
			for _, b := range wanted {
				if b.header != nil {
					t.Fatalf("seed %d: block %d is read twice", seed, b.number)
				}
				b.header = &header{Number: quantity(b.number), Timestamp: quantity(truth[b.number])}
			}
			read += len(wanted)
		}
		for _, b := range times.blocks {
			if b.time() != truth[b.number] {
				t.Errorf("seed %d: block %d is of %d, want %d", seed, b.number, b.time(), truth[b.number])
			}
		}
		if times.isWrong || read > len(blocks) || missed < 0.001 && read > len(blocks)/2 {
			t.Errorf("seed %d, %.3f of all slots missed: %d of %d headers read, contradiction %t", seed, missed, read, len(blocks), times.isWrong)
		}
	}
}
