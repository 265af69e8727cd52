package evm_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/internal/rpctest"
	"crossgate/order"
)

func TestKeptTellsWhatTheGiveChainKeeps(t *testing.T) {
	n := newNode(1000)
	ids := []order.ID{{1}, {2}, {3}, {4}, {5}} // the last one has a status of newer contracts
	n.patched = func(uint64) uint64 { return 10 }
	n.storage = func(to, data string, _ uint64) string {
		if to != testChain.Contracts.DlnSource.String() {
			return "0x"
		}
		for i, id := range ids {
			if strings.HasSuffix(data, id.String()[2:]) {
				return fmt.Sprintf("0x%064x%064x%064x%064x%064x%064x%064x%064x", i, 0xee, 0, 137, 0, 700+i, 0, 0)
			}
		}
		return "!no such order"
	}
	got, err := n.serve(t, testChain).States(t.Context(), ids)
	if err != nil || len(got) != 5 {
		t.Fatalf("States() = %+v, %v", got, err)
	}
	if got[4].Err == nil {
		t.Error("a status of newer contracts is known")
	}
	for i, want := range []order.State{order.None, order.StateCreated, order.StateClaimedUnlock, order.StateClaimedOrderCancel} {
		if got[i].State != want || got[i].Err != nil {
			t.Errorf("order %d is kept as %v, want %v", i, got[i].State, want)
		}
	}
	if got[1].Amount != chain.NewAmount(711) {
		t.Errorf("amount %v, want 701 and a patch of 10", got[1].Amount)
	}
	n.storage = func(string, string, uint64) string { return "0x" }
	if got, err := n.serve(t, testChain).States(t.Context(), ids[:1]); err != nil || got[0].Err == nil {
		t.Errorf("States() of a contract that is none = %+v, want an error", got)
	}
}

func TestTakeStatesTellWhatTheTakeChainKeeps(t *testing.T) {
	n := newNode(1000)
	ids := []order.ID{{1}, {2}, {3}, {4}}
	n.patched = func(uint64) uint64 { return 7 }
	n.storage = func(to, data string, _ uint64) string {
		if to != testChain.Contracts.DlnDestination.String() {
			return "0x"
		}
		for i, id := range ids {
			if strings.HasSuffix(data, id.String()[2:]) {
				return fmt.Sprintf("0x%064x%064x%064x%064x", i, 0xee, 137, 0)
			}
		}
		return "!no such order"
	}
	got, err := serveAll(t, testChain, n, n).TakeStates(t.Context(), ids)
	lowered := chain.NewAmount(7)
	want := []order.StoredState{
		{Amount: lowered},
		{State: order.StateFulfilled, Amount: lowered},
		{State: order.StateSentUnlock, Amount: lowered},
		{State: order.StateSentOrderCancel, Amount: lowered},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("TakeStates() = %v, %v, want %v", got, err, want)
	}
}

// TestStatesOfOneEndpointAreItsWord uses two orders, only one of which is stored.
func TestStatesOfOneEndpointAreItsWord(t *testing.T) {
	ids := []order.ID{{1}, {2}}
	failing := newNode(1000)
	storing := func(state int) *node {
		n := newNode(1000)
		n.patched = func(uint64) uint64 { return 7 }
		n.storage = func(_, data string, _ uint64) string {
			if strings.HasSuffix(data, ids[0].String()[2:]) {
				return fmt.Sprintf("0x%064x%064x%064x%064x%064x%064x%064x%064x", state, 0xee, 0, 137, 0, 700, 0, 0)
			}
			return fmt.Sprintf("0x%0512x", 0)
		}
		return n
	}
	honest, liar := storing(1), storing(2)
	failing.answers["eth_call"] = rpctest.Fault(-32000, "header not found")
	for name, test := range map[string]struct {
		nodes []*node
		want  [2]bool // reported by one endpoint only
	}{
		"alone":                {[]*node{honest}, [2]bool{true, true}},
		"beside a failing one": {[]*node{honest, failing}, [2]bool{true, true}},
		"beside a liar":        {[]*node{honest, liar}, [2]bool{true, false}},
		"beside nonsense":      {[]*node{storing(300), honest}, [2]bool{true, false}},
		"two":                  {[]*node{honest, honest}, [2]bool{}},
	} {
		got, err := serveAll(t, testChain, test.nodes...).States(t.Context(), ids)
		if err != nil || got[1].State != order.None || [2]bool{got[0].IsSingle, got[1].IsSingle} != test.want {
			t.Errorf("%s: States = %+v, %v, want one endpoint's word: %v", name, got, err, test.want)
		}
	}
}

// blockSeconds is the time of block 20,000,000.
const blockSeconds = 1_700_000_000 + 2*20_000_000

func TestOriginIsWhereTheRegistrySaysThatOrdersBegin(t *testing.T) {
	for name, test := range map[string]struct {
		first, since uint64 // known to the registry: a block, a time
		want         uint64
		late         int64 // by how many seconds a further endpoint, asked first, dates blocks too early
		isOne        bool  // of two, or of three
	}{
		"unknown":           {},
		"known":             {first: 16_391_639, want: 16_391_639},
		"of another chain":  {first: 50_000_000},
		"since a time":      {since: blockSeconds, want: 20_000_000},
		"before the chain":  {since: 1_000},
		"beside a liar":     {since: blockSeconds, want: 20_000_000, late: 200_000, isOne: true},
		"two beside a liar": {since: blockSeconds, want: 20_000_000, late: -200_000},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(40_000_000)
			n.archive = 39_000_000
			known := testChain
			known.FirstBlock = test.first
			if test.since > 0 {
				known.Since = time.Unix(int64(test.since), 0)
			}
			nodes := []*node{n}
			if test.late != 0 {
				liar := newNode(40_000_000)
				liar.blockTime = func(block uint64) uint64 { return n.blockTime(block) - uint64(test.late) }
				if nodes = []*node{liar, n}; !test.isOne {
					nodes = append(nodes, newNode(40_000_000))
				}
			}
			got, err := serveAll(t, known, nodes...).Origin(t.Context())
			isNear := test.since > 0 && got <= test.want && test.want-got < 10_000 // a block shortly before that time
			if err != nil || got != test.want && !isNear {
				t.Errorf("Origin() = %d, %v, want %d", got, err, test.want)
			}
			if trips := n.trips(); trips > 16 {
				t.Errorf("Origin() took %d round trips", trips)
			}
		})
	}
}
