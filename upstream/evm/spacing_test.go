package evm_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/upstream/evm"
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

// TestAContradictedSpacingIsTriedAgain alters the time of block 1000, the first of those with events, 300 apart, at a
// node that does not tell the times of logs. What contradicts the spacing is said once; it is used again when headers of
// 10,000 blocks have agreed with it.
func TestAContradictedSpacingIsTriedAgain(t *testing.T) {
	const first, apart, count = 1000, 300, 120
	n := newNode(50_000)
	n.blockTime = func(number uint64) uint64 {
		if number == first {
			return 1_700_000_000 + 12*number + 24
		}
		return 1_700_000_000 + 12*number
	}
	_, id := delivery()
	for i := range uint64(count) {
		n.add(t, first+i*apart, false, unlockLog(t, id))
	}
	known := testChain
	known.Spacing = chain.Spacing{Least: 12}
	var said bytes.Buffer
	c := n.serve(t, known, evm.WithLogger(slog.New(slog.NewTextHandler(&said, nil))))
	if _, err := c.Head(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, step := range []struct {
		from, to uint64
		headers  int
	}{
		{25_000, 36_999, 2},
		{1000, 12_999, 40}, // contradict it
		{13_000, 24_999, 40},
		{25_000, 36_999, 2}, // 11,700 blocks have agreed
		{1000, 12_999, 40},
		{13_000, 17_999, 17},
		{25_000, 36_999, 40}, // 4,800 have not been enough
		{13_000, 24_999, 2},
	} {
		n.methods = nil
		if _, err := c.EventsOfLogs(t.Context(), step.from, step.to); err != nil {
			t.Fatal(err)
		}
		if asked := n.methods["eth_getBlockByHash"]; asked != step.headers {
			t.Errorf("step %d: %d headers were asked for, want %d", i+1, asked, step.headers)
		}
	}
	lines := strings.Split(strings.TrimSpace(said.String()), "\n")
	if len(lines) != 1 || !strings.Contains(lines[0], "chain=8453 before=1000 after=1300 seconds=3576 least=3600") {
		t.Errorf("said %q, want one line about blocks 1000 and 1300", lines)
	}
}
