package proof

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/ledger"
)

func TestWhenBlocksAreProven(t *testing.T) {
	const from, long = 5000, 10_000
	for _, c := range []struct {
		what  string
		count int
		weak  int // of these, blocks that rest on one endpoint
		since time.Duration
		haste Haste
		want  uint64
	}{
		{"nothing", 0, long, time.Hour, AtLeisure, 0},
		{"a position ahead", -1, long, time.Hour, AtLeisure, 0},
		{"many", Together, 0, 0, InSlices, Together},
		{"fewer", Together - 1, 0, 0, Promptly, 0},
		{"fewer, for long", 1, 0, ProvenEvery, AtLeisure, Together},
		{"fewer, not for long", Together - 1, 0, ProvenEvery - 1, AtLeisure, 0},
		{"fewer, for long, asked about", provenAlone - 1, 0, ProvenEvery, InSlices, provenSlice},
		{"lists, for long, asked about", provenAlone, 0, ProvenEvery, InSlices, Together},
		{"weak, enough", ProvenAtOnce, 1, 0, AtLeisure, Together},
		{"weak, too few", ProvenAtOnce - 1, 1, 0, AtLeisure, 0},
		{"weak, too few, for some time", 1, 1, ProvenSoon, AtLeisure, Together},
		{"weak, too few, not for long", 1, 1, ProvenSoon - 1, AtLeisure, 0},
		{"strong, for some time", ProvenAtOnce, 0, ProvenSoon, AtLeisure, 0},
		{"weak, promptly, lists", provenAlone, long, 0, Promptly, Together},
		{"weak, promptly", provenAlone - 1, long, 0, Promptly, provenSlice},
		{"weak, promptly, few", provenPromptly, long, 0, Promptly, provenSlice},
		{"weak, promptly, too few", provenPromptly - 1, long, 0, Promptly, 0},
		{"weak, promptly, the last ones", 3, 3, 0, Promptly, provenSlice},
		{"weak, in slices", provenAlone, long, 0, InSlices, 0},
		{"strong, promptly", provenAlone, 0, 0, Promptly, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := prover{at: time.Now().Add(-c.since), wordEnd: from + uint64(c.weak)}
			if got := p.due(ledger.Checkpoint{ProvenEnd: from}, uint64(from+c.count), c.haste); got != c.want {
				t.Errorf("%s: %d blocks of %d are due, want %d", c.what, got, c.count, c.want)
			}
		})
	}
}

func TestBlocksThatRestOnOneEndpoint(t *testing.T) {
	var c Chain
	takes := func(from, to, latest uint64) func() {
		return func() { c.TookWord(ledger.Range{From: from, To: to}, order.Head{Latest: order.Block{Number: latest}}) }
	}
	for _, step := range []struct {
		what string
		does func()
		want uint64
	}{
		{"the start", func() { c.Begin(ledger.Checkpoint{Block: 99}) }, 100},
		{"a later position", func() { c.Begin(ledger.Checkpoint{Block: 500}) }, 100},
		{"a range before", takes(1, 50, 1e6), 100},
		{"a range after", takes(100, 199, 1e6), 200},
		{"a range at the tip", takes(200, 299, 299), 300 - order.TipRange},
		{"the tip alone", takes(299, 300, 300), 300 - order.TipRange},
	} {
		if step.does(); c.prover.wordEnd != step.want {
			t.Errorf("after %s, blocks before %d rest on one endpoint, want %d", step.what, c.prover.wordEnd, step.want)
		}
	}
}

// voters answer with their blocks by endpoint; cause is what the chain was last suspended for.
type voters struct {
	blocks map[string]order.Block
	cause  error
}

func (v *voters) Testify(context.Context, uint64, int) map[string]order.Block {
	return maps.Clone(v.blocks)
}
func (v *voters) Anchor(order.Block, bool) {}
func (v *voters) Suspend(cause error)      { v.cause = cause }

func ofHash(number uint64, hash byte) order.Block {
	return order.Block{Number: number, Hash: chain.Hash{hash}}
}

func byName(reported []order.Block) map[string]order.Block {
	named := map[string]order.Block{}
	for i, b := range reported {
		named[string(rune('a'+i))] = b
	}
	return named
}

func TestElections(t *testing.T) {
	for _, c := range []struct {
		what     string
		reported []order.Block
		agreed   byte
		voices   int
		fails    string
	}{
		{"nobody", nil, 0, 0, "no endpoint has block 10"},
		{"one", []order.Block{ofHash(10, 1)}, 1, 1, ""},
		{"two", []order.Block{ofHash(10, 1), ofHash(10, 1)}, 1, 2, ""},
		{"one each", []order.Block{ofHash(10, 1), ofHash(10, 2)}, 0, 0, "endpoints contradict final block 10: a has 0x01"},
		{"a majority", []order.Block{ofHash(10, 2), ofHash(10, 1), ofHash(10, 1)}, 1, 2, ""},
		{"two of four", []order.Block{ofHash(10, 1), ofHash(10, 1), ofHash(10, 2), ofHash(10, 3)}, 0, 0, "contradict"},
		{"one lags where numbers are skipped", []order.Block{ofHash(9, 2), ofHash(8, 2), ofHash(10, 1)}, 1, 1, ""},
	} {
		agreed, voices, err := election(10, byName(c.reported))
		if agreed.Hash != (chain.Hash{c.agreed}) || voices != c.voices {
			t.Errorf("%s: agreed on %s by %d, want %d by %d", c.what, agreed.Hash, voices, c.agreed, c.voices)
		}
		if (err != nil) != (c.fails != "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: %v, want %q", c.what, err, c.fails)
		}
	}
}

// A chain whose endpoints contradicted a stored final block stays suspended until several agree, its only endpoint has
// the block, or an operator has withdrawn it.
func TestDoubtsEnd(t *testing.T) {
	stored := ledger.Block{Number: 10, Hash: chain.Hash{1}}
	for _, c := range []struct {
		what     string
		about    ledger.Block
		position uint64
		reported []order.Block
		ends     bool
	}{
		{"one endpoint, another block", stored, 10, []order.Block{ofHash(10, 2)}, false},
		{"one endpoint, the stored block", stored, 10, []order.Block{ofHash(10, 1)}, true},
		{"two endpoints, another block", stored, 10, []order.Block{ofHash(10, 2), ofHash(10, 2)}, true},
		{"two endpoints that differ", stored, 10, []order.Block{ofHash(10, 1), ofHash(10, 2)}, false},
		{"one endpoint, the block withdrawn", stored, 9, []order.Block{ofHash(10, 2)}, true},
		{"one endpoint, a block never stored", ledger.Block{Number: 10}, 10, []order.Block{ofHash(10, 2)}, true},
		{"no endpoint", stored, 10, nil, false},
	} {
		source := &voters{blocks: byName(c.reported), cause: errors.New("suspended")}
		held := Chain{anchorage: anchorage{source: source, doubt: &c.about}}
		err := held.reconsider(t.Context(), ledger.Checkpoint{Block: c.position})
		if ended := held.anchorage.doubt == nil && source.cause == nil; ended != c.ends || (err == nil) != c.ends {
			t.Errorf("%s: the doubt ended: %t (%v), want %t", c.what, ended, err, c.ends)
		}
	}
}
