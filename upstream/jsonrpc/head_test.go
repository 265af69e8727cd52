package jsonrpc_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/internal/must"
	"crossgate/internal/pooltest"
	"crossgate/internal/rpctest"
	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

// fleet is several nodes of one chain, each with a head of its own.
type fleet struct {
	pool   *upstream.Pool
	client *jsonrpc.Client
	ends   []*upstream.Endpoint
	heads  []atomic.Uint64
	asked  []atomic.Int64

	branches []string // of each; equal branches agree on all common blocks
}

func headCall() *jsonrpc.Call {
	return &jsonrpc.Call{Method: "eth_blockNumber", Out: new(string), Head: func(result any) uint64 {
		number, _ := strconv.ParseUint(strings.TrimPrefix(*result.(*string), "0x"), 16, 64)
		return number
	}}
}

// linkCall requests a block, which is returned as its hash and its parent's.
func linkCall(number uint64) *jsonrpc.Call {
	return &jsonrpc.Call{
		Method: "eth_getBlockByNumber", Params: []any{number}, Out: new([]string),
		Link: func(result any) (hash, parent string) {
			names := *result.(*[]string)
			return names[0], names[1]
		},
	}
}

// blockAt answers linkCall for a chain up to head.
func blockAt(c rpctest.Call, head uint64, branch string) string {
	number, err := strconv.ParseUint(string(c.Params[0]), 10, 64)
	if err != nil || number > head {
		return rpctest.Fault(-32000, "unknown block")
	}
	return fmt.Sprintf(`"result":["%s%d","%s%d"]`, branch, number, branch, number-1)
}

func newFleet(t *testing.T, most uint64, heads ...uint64) *fleet {
	f := &fleet{heads: make([]atomic.Uint64, len(heads)), asked: make([]atomic.Int64, len(heads)), branches: make([]string, len(heads))}
	for i := range heads {
		f.heads[i].Store(heads[i])
		answers := node(func(c rpctest.Call) string {
			switch c.Method {
			case "eth_blockNumber":
				return fmt.Sprintf(`"result":"0x%x"`, f.heads[i].Load())
			case "eth_getBlockByNumber":
				return blockAt(c, f.heads[i].Load(), f.branches[i])
			}
			return fmt.Sprintf(`"result":"%d"`, i)
		})
		f.ends = append(f.ends, pooltest.Endpoint(t, string(rune('a'+i)), func(r *http.Request) (*http.Response, error) {
			f.asked[i].Add(1)
			return answers(r)
		}))
	}
	f.pool = upstream.NewPool("chain", f.ends...)
	f.client = jsonrpc.New(f.pool)
	f.client.CompareHeads(most, headCall(), linkCall)
	return f
}

// asks makes one call a second while all chains grow, and returns which node answered last.
func (f *fleet) asks(t *testing.T, seconds int) (who string) {
	t.Helper()
	for range seconds {
		must.Do(t, f.client.Call(t.Context(), "eth_call", &who))
		<-time.After(time.Second)
		for i := range f.heads {
			f.heads[i].Add(1)
		}
	}
	return who
}

func (f *fleet) standings() string {
	var all []string
	for _, h := range f.pool.Health() {
		all = append(all, h.Endpoint+" "+h.Head+" "+h.Standing)
	}
	return strings.Join(all, "; ")
}

const offText = "away from the others' head"

func TestEndpointsAwayFromTheMajorityComeLast(t *testing.T) {
	for _, test := range []struct {
		name  string
		heads []uint64
		away  string // endpoints
		who   string // node that answers
	}{
		{"all alike", []uint64{1000, 1001, 999}, "", "0"},
		{"the first lags", []uint64{980, 1000, 1001}, "a", "1"},
		{"one of two lags", []uint64{980, 1000}, "a", "1"},
		{"alone ahead", []uint64{2000, 1000, 1001}, "a", "1"},
		{"alone ahead by little", []uint64{1005, 1000, 1001}, "", "0"},
		{"two of three are ahead", []uint64{1000, 2000, 2001}, "a", "1"},
		{"two of four lag", []uint64{980, 979, 1000, 1001}, "ab", "2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, 10, test.heads...)
				who := f.asks(t, 40)
				away := ""
				for _, h := range f.pool.Health() {
					if h.Standing == offText {
						away += h.Endpoint
					}
				}
				if who != test.who || away != test.away {
					t.Errorf("%s answers, %q are away, want %s and %q: %s", who, away, test.who, test.away, f.standings())
				}
			})
		})
	}
}

// TestTheFirstHeadIsCompared begins with an endpoint that has hardly any blocks, beside one that has all.
func TestTheFirstHeadIsCompared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 10, 3, 1000)
		first := headCall()
		if must.Do(t, f.client.Batch(t.Context(), first)); *first.Out.(*string) != "0x3e8" {
			t.Errorf("the first head is %s, want the other's", *first.Out.(*string))
		}
	})
}

// TestOfTwoEndpointsNobodyIsBlamedWithoutProof: one that claims to be far ahead is believed if its blocks link up.
func TestOfTwoEndpointsNobodyIsBlamedWithoutProof(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 10, 1000, 1100)
		f.branches[1] = "forged"
		if who := f.asks(t, 40); who != "0" {
			t.Errorf("%s answers, want the one that was asked before: %s", who, f.standings())
		}
		if got, want := f.standings(), "a -100 ready; b +100 ready"; got != want {
			t.Errorf("they stand as %q, want %q", got, want)
		}
		f.branches[1] = ""
		if who := f.asks(t, 40); who != "1" || f.pool.Health()[0].Standing != offText {
			t.Errorf("%s answers, want the one that has the next block: %s", who, f.standings())
		}
		f.heads[0].Store(f.heads[1].Load())
		if f.asks(t, 40); f.pool.Health()[0].Standing == offText {
			t.Errorf("level again: %s", f.standings())
		}
	})
}

// An endpoint that lagged too far must come closer than that limit before it counts as current again.
func TestLagHasHysteresis(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 10, 980, 1000, 1000)
		for _, step := range []struct {
			behind uint64
			isAway bool
		}{{20, true}, {9, true}, {6, true}, {5, false}, {9, false}, {11, true}} {
			f.heads[0].Store(f.heads[1].Load() - step.behind)
			f.asks(t, 20)
			if got := f.pool.Health()[0]; (got.Standing == offText) != step.isAway {
				t.Errorf("%d blocks behind: %+v, want it away: %v", step.behind, got, step.isAway)
			}
		}
	})
}

// A lagging endpoint is better than none.
func TestLaggingEndpointIsStillAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 10, 980, 1000)
		if who := f.asks(t, 20); who != "1" {
			t.Fatalf("%s answers, want the one that is not behind", who)
		}
		f.ends[1].Cordon()
		if who := f.asks(t, 1); who != "0" {
			t.Errorf("%s answers, want the one that is left", who)
		}
	})
}

// Heads are requested occasionally, and not if other answers include them anyway.
func TestHeadsAreAskedForRarely(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 10, 1000, 1000, 1000)
		const minutes = 10
		f.asks(t, 60*minutes)
		for i := range f.asked {
			// Four head requests a minute; besides, one endpoint is called every ten seconds just to measure it.
			if got := f.asked[i].Load(); i > 0 && got > 7*minutes {
				t.Errorf("%s was asked %d times in %d minutes", string(rune('a'+i)), got, minutes)
			}
		}
		single := newFleet(t, 10, 1000)
		if single.asks(t, 60); single.asked[0].Load() != 60 {
			t.Errorf("the only endpoint was asked %d times, want 60: there is nothing to compare it with", single.asked[0].Load())
		}
	})
}

// Heads learned from callers' calls are used immediately.
func TestHeadsAreLearnedFromCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 10, 1000, 1000)
		must.Do(t, f.client.Batch(t.Context(), headCall())) // compares all
		f.asks(t, 16)
		f.heads[0].Store(f.heads[1].Load() - 50)
		asked := f.asked[1].Load()
		must.Do(t, f.client.Batch(t.Context(), headCall()))
		synctest.Wait() // for the proof
		if got := f.pool.Health()[0]; got.Head != "-49" || got.Standing != offText || f.asked[1].Load() != asked+1 {
			t.Errorf("%+v, want it behind what the other told a second ago, of which the next block alone was asked for", got)
		}
	})
}
