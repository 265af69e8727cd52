package evm_test

import (
	"testing"

	"crossgate/chain"
)

// TestHeadersPinTheTimesBetweenThem reads 40 blocks with events, 25 apart, twice, from nodes that do not tell the
// times of logs.
func TestHeadersPinTheTimesBetweenThem(t *testing.T) {
	const first, apart, count = 2000, 25, 40
	regular := func(number uint64) uint64 { return 1_700_000_000 + 12*number }
	missed := func(slots ...uint64) func(uint64) uint64 {
		return func(number uint64) uint64 {
			at := regular(number)
			for _, slot := range slots {
				if number >= slot {
					at += 12
				}
			}
			return at
		}
	}
	for name, test := range map[string]struct {
		time    func(number uint64) uint64
		spacing chain.Spacing
		headers [2]int // asked for by each reading
	}{
		"exactly apart":      {regular, chain.Spacing{Least: 12}, [2]int{2, 2}},
		"nothing is known":   {regular, chain.Spacing{}, [2]int{count, count}},
		"one slot missed":    {missed(2510), chain.Spacing{Least: 12}, [2]int{7, 7}},
		"two slots missed":   {missed(2101, 2905), chain.Spacing{Least: 12}, [2]int{11, 11}},
		"before the spacing": {regular, chain.Spacing{Least: 12, From: 5000}, [2]int{count, count}},
		"since a block":      {regular, chain.Spacing{Least: 12, From: 2240}, [2]int{12, 12}},
		"half of all slots missed": {
			func(number uint64) uint64 { return regular(2 * number) }, chain.Spacing{Least: 12}, [2]int{count, count},
		},
		"faster by now": {
			func(number uint64) uint64 { return regular(number) - 6*max(number, 2600) }, chain.Spacing{Least: 12}, [2]int{count, count},
		},
		"one header altered": {
			func(number uint64) uint64 {
				if number == first {
					return regular(number) + 24
				}
				return regular(number)
			}, chain.Spacing{Least: 12}, [2]int{count, count},
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(50_000)
			n.blockTime = test.time
			_, id := delivery()
			for i := range uint64(count) {
				n.add(t, first+i*apart, false, unlockLog(t, id))
			}
			known := testChain
			known.Spacing = test.spacing
			c := n.serve(t, known)
			if _, err := c.Head(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, want := range test.headers {
				n.methods = nil
				events, err := c.EventsOfLogs(t.Context(), 1, 4000)
				if err != nil || len(events) != count {
					t.Fatalf("EventsOfLogs = %d events, %v, want %d", len(events), err, count)
				}
				for _, e := range events {
					if e.At.Time != test.time(e.At.Block) {
						t.Errorf("block %d is of %d, want %d", e.At.Block, e.At.Time, test.time(e.At.Block))
					}
				}
				if asked := n.methods["eth_getBlockByHash"]; asked != want {
					t.Errorf("%d headers were asked for, want %d", asked, want)
				}
			}
		})
	}
}
