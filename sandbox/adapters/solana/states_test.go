package solana_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/sandbox/jsonrpc"
	sandbox "crossgate/sandbox/solana"
	"crossgate/token"
	"crossgate/upstream/solana"
)

func TestStates(t *testing.T) {
	w := newWorld(t)
	open, paid, back := w.create(sandbox.Way{}), w.create(sandbox.Way{}), w.create(sandbox.Way{})
	must.Do(w.t, w.PatchGive(w.later(), open.Terms.ID(), maker, 7))
	for i, each := range []sandbox.Order{paid, back} {
		must.Do(w.t, w.Claim(w.later(), taker, sandbox.Inbound{
			Submission: [32]byte{byte(i + 1)}, From: 1, Cancel: i == 1, Beneficiary: maker.Key, Orders: [][32]byte{each.Terms.ID()},
		}, true))
	}
	ids := []order.ID{open.Terms.ID(), {9}, paid.Terms.ID(), back.Terms.ID()}
	given := open.Terms.GiveAmount.Uint64() + 7
	want := []order.StoredState{
		{State: order.StateCreated, Amount: chain.NewAmount(given)},
		{State: order.None},
		{State: order.StateClaimedUnlock},
		{State: order.StateClaimedOrderCancel},
	}
	old := liar{w, "getMultipleAccounts", func(result json.RawMessage) json.RawMessage { // from before the program stored amounts
		const amount = len(`"data":["`) + 12 // in base64
		return regexp.MustCompile(`"data":\["[^"]{14}`).ReplaceAllFunc(result, func(data []byte) []byte { return append(data[:amount:amount], "AA"...) })
	}}
	forgetful := jsonrpc.Altered(old, func(call jsonrpc.Request, _ int) string {
		if call.Method == "getTransaction" {
			return `"error":{"code":-32011,"message":"Transaction history is not available from this node"}`
		}
		return ""
	})
	for name, c := range map[string]*solana.Chain{
		"one node": w.chain(), "two": w.chain(w), "two, of old accounts": w.chainOver(old, old), "two, one without history": w.chainOver(old, forgetful),
	} {
		for i := range want {
			want[i].IsSingle = name == "one node" || name == "two, one without history" && i == 0
		}
		got, err := c.States(t.Context(), ids)
		if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b chain.Amount) bool { return a == b })); err != nil || diff != "" {
			t.Errorf("States of %s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

func TestTakeStates(t *testing.T) {
	w := newWorld(t)
	delivered, unlocked := w.fulfil(sandbox.Way{}, nil), w.fulfil(sandbox.Way{}, nil)
	must.Do(w.t, w.SendUnlock(w.later(), taker, onEVM, unlocked))
	cancelled, sent := w.terms(nil), w.terms(nil)
	must.Do(w.t, w.Cancel(w.later(), cancelled, other))
	must.Do(w.t, w.Cancel(w.later(), sent, other))
	must.Do(w.t, w.SendCancel(w.later(), sent.ID(), other, onEVM))
	got, err := w.chain(w).TakeStates(t.Context(), []order.ID{delivered, unlocked, cancelled.ID(), sent.ID(), {9}})
	want := []order.StoredState{
		{State: order.StateFulfilled}, {State: order.StateSentUnlock}, {State: order.StateOrderCancelled}, {State: order.StateSentOrderCancel}, {},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("TakeStates = %v, %v, want %v", got, err, want)
	}
}

// TestOriginIsNotAfterTheFirstOrder covers a cluster whose slots the registry does not know.
func TestOriginIsNotAfterTheFirstOrder(t *testing.T) {
	w := newWorld(t)
	w.Mine(1500)
	first := w.create(sandbox.Way{})
	w.Mine(1500)
	if origin, err := w.chain().Origin(t.Context()); err != nil || origin > w.slotOf(first.Creation) {
		t.Errorf("Origin = %d, %v, want %d at most", origin, err, w.slotOf(first.Creation))
	}
}

func TestHistoryFindsBothSides(t *testing.T) {
	w := newWorld(t)
	out := w.create(sandbox.Way{Forwarded: true})
	out2 := w.create(sandbox.Way{})
	must.Do(w.t, w.PatchGive(w.later(), out.Terms.ID(), maker, 7))
	must.Do(w.t, w.Claim(w.later(), taker, sandbox.Inbound{
		Submission: [32]byte{1}, From: 1, Beneficiary: taker.Key, Orders: [][32]byte{out.Terms.ID(), out2.Terms.ID()},
	}, false))
	withCall := w.terms([]byte("external call"))
	calling, plain := w.deliver(sandbox.Way{}, withCall), w.fulfil(sandbox.Way{}, nil)
	must.Do(w.t, w.ExecuteCall(w.later(), withCall, taker, true))
	must.Do(w.t, w.SendUnlock(w.later(), taker, onEVM, plain, calling))
	cancelled := w.terms(nil)
	must.Do(w.t, w.Cancel(w.later(), cancelled, other))
	must.Do(w.t, w.SendCancel(w.later(), cancelled.ID(), other, onEVM))

	for _, test := range []struct {
		name  string
		id    order.ID
		side  order.Side
		want  []string
		trips int64
	}{
		{"given", out.Terms.ID(), order.GiveSide, []string{"Created", "GiveIncreased", "Claimed 1"}, 2},
		{"taken", calling, order.TakeSide, []string{"Fulfilled", "ExternalCall 2", "Sent 1"}, 2},
		{"cancelled", cancelled.ID(), order.TakeSide, []string{"Cancelled", "Sent 2"}, 2},
		{"unknown", order.ID{1}, order.TakeSide, nil, 1},
	} {
		var read order.Evidence
		var err error
		c := w.chain()
		trips := w.tripsOf(func() { read, err = c.History(t.Context(), test.id, test.side, 0) })
		events := read.Events
		if diff := cmp.Diff(expect(test.id, test.want...), facts(events)); err != nil || diff != "" {
			t.Errorf("History of an order %s: %v (-want +got):\n%s", test.name, err, diff)
		}
		if trips != test.trips {
			t.Errorf("History of an order %s took %d round trips, want %d", test.name, trips, test.trips)
		}
	}
}

var blockhashes = regexp.MustCompile(`"blockhash":"[^"]*"`)

// TestNodeOfAnotherBranchIsNotUsed covers a first node with other blocks in all slots.
func TestNodeOfAnotherBranchIsNotUsed(t *testing.T) {
	w := newWorld(t)
	w.Mine(100)
	forked := liar{w, "getBlock", func(result json.RawMessage) json.RawMessage {
		return blockhashes.ReplaceAll(result, []byte(`"blockhash":"EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG"`))
	}}
	anchor := must.Get(w.chain().Block(t.Context(), w.Head()-40))(w.t)
	newest := must.Get(w.chain().Block(t.Context(), w.Head()))(w.t)
	c := w.chain(forked)
	told := c.Testify(t.Context(), anchor.Number, 2)
	if len(told) != 2 || told["node-0"].Hash == told["node-1"].Hash || told["node-1"] != anchor {
		t.Fatalf("Testify = %+v, want two blocks, node-1's %+v", told, anchor)
	}
	if got, err := c.Block(t.Context(), w.Head()); err != nil || got.Hash == newest.Hash {
		t.Fatalf("Block = %+v, %v without an anchor, so that nothing is shown", got, err)
	}
	c.Anchor(anchor, true)
	if got, err := c.Block(t.Context(), w.Head()); err != nil || got != newest {
		t.Errorf("Block = %+v, %v, want %+v", got, err, newest)
	}
	alone := w.chainOver(forked)
	alone.Anchor(anchor, true)
	if got, err := alone.Head(t.Context()); !errors.Is(err, order.ErrOtherBranch) {
		t.Errorf("Head of a node of another branch alone = %+v, %v", got, err)
	}
	cause := errors.New("two branches")
	c.Suspend(cause)
	if _, err := c.Head(t.Context()); !errors.Is(err, cause) {
		t.Errorf("Head = %v, want why the chain is suspended", err)
	}
}

func TestHeadIsConfirmed(t *testing.T) {
	w := newWorld(t)
	w.Mine(100)
	head, err := w.chain().Head(t.Context())
	if err != nil || head.Latest.Number != w.Head() || head.Latest.Hash.IsAbsent() || head.Latest.Time == 0 {
		t.Errorf("Head = %+v, %v, want block %d", head, err, w.Head())
	}
	if head.Finalized >= head.Latest.Number || head.Latest.Number-head.Finalized > 40 {
		t.Errorf("finalized block %d, newest %d", head.Finalized, head.Latest.Number)
	}
	unaware := jsonrpc.Altered(w, func(call jsonrpc.Request, _ int) string {
		if call.Method == "getSlot" && strings.Contains(string(call.Params[0]), "finalized") {
			return `"result":0`
		}
		return ""
	})
	orphan := liar{w, "getBlock", func(result json.RawMessage) json.RawMessage {
		return bytes.Replace(result, []byte(`"previousBlockhash"`), []byte(`"previous"`), 1)
	}}
	for name, node := range map[string]http.Handler{"knows of no final block": unaware, "names no parent": orphan} {
		if beside, err := w.chain(node).Head(t.Context()); err != nil || beside != head {
			t.Errorf("Head = %+v, %v beside a node that %s, want %+v", beside, err, name, head)
		}
	}
}

// TestBlockLeavesNoGaps asks for every slot: one without a block gets the block before it.
func TestBlockLeavesNoGaps(t *testing.T) {
	w := newWorld(t)
	w.Mine(80)
	c := w.chain()
	first, err := c.Block(t.Context(), 0)
	if err != nil || first.Number == 0 {
		t.Fatalf("Block(0) = %+v, %v, want the oldest block there is", first, err)
	}
	before, skipped := first, 0
	for slot := first.Number + 1; slot <= w.Head(); slot++ {
		got, err := c.Block(t.Context(), slot)
		switch {
		case err != nil:
			t.Fatalf("Block(%d): %v", slot, err)
		case got == before:
			skipped++
		case got.Number != slot || got.Parent != before.Hash || got.Time < before.Time:
			t.Fatalf("Block(%d) = %+v, the block before it is %+v", slot, got, before)
		}
		before = got
	}
	if skipped == 0 {
		t.Error("no slot was skipped")
	}
	if got, err := c.Block(t.Context(), w.Head()+1); !errors.Is(err, order.ErrNotFound) {
		t.Errorf("Block beyond the head = %+v, %v, want ErrNotFound", got, err)
	}
}

// TestHistoryReachOfNodesIsKnown covers a node that reports a dropped block: from then on it is asked only for blocks
// at most half as old. A skipped slot, which every node reports, changes nothing.
func TestHistoryReachOfNodesIsKnown(t *testing.T) {
	const keeps = 150
	w := newWorld(t)
	w.Mine(400)
	first, refused := w.Head()-keeps, atomic.Int64{}
	recent := jsonrpc.Altered(w.Chain, func(call jsonrpc.Request, _ int) string {
		var slot uint64
		if call.Method != "getBlock" || json.Unmarshal(call.Params[0], &slot) != nil || slot >= first {
			return ""
		}
		refused.Add(1)
		return fmt.Sprintf(`"error":{"code":-32001,"message":"Block %d cleaned up, does not exist on node. First available block: %d"}`, slot, first)
	})
	known, _ := chain.Documented().Chain(chain.Solana)
	client := w.clientOver(recent, w)
	c := solana.New(known, client)
	must.Get(c.Head(t.Context()))(t)
	skipped := 0
	for slot := first; slot < w.Head()-70; slot++ {
		got := must.Get(c.Block(t.Context(), slot))(t)
		if got.Number != slot {
			skipped++
		}
	}
	if limits := client.Capabilities("node-0").Known(); skipped == 0 || len(limits.Depths) > 0 {
		t.Errorf("after %d skipped slots the known depths are %v, want none", skipped, limits.Depths)
	}
	old, err := c.Block(t.Context(), w.Head()-350)
	if err != nil || old.Number > w.Head()-350 {
		t.Errorf("Block(%d) = %+v, %v", w.Head()-350, old, err)
	}
	if limits := client.Capabilities("node-0").Known(); limits.Depths["blocks"] != 350/2 || refused.Load() != 1 {
		t.Errorf("known depths are %v after %d refusals, want %d blocks after one", limits.Depths, refused.Load(), 350/2)
	}
}

func TestReadTokens(t *testing.T) {
	w := newWorld(t)
	var mints []chain.Address
	for _, each := range sandbox.Tokens {
		mints = append(mints, chain.NewAddress(each.Mint[:]))
	}
	notMints := []chain.Address{
		chain.NewAddress(onEVM), chain.NativeCoin(chain.SVM), chain.NewAddress(maker.Key[:]), chain.NewAddress(slices.Repeat([]byte{9}, 32)),
	}
	c := w.chain()
	var readings []token.Reading
	var err error
	trips := w.tripsOf(func() { readings, err = c.ReadTokens(t.Context(), slices.Concat(mints, notMints)) })
	if err != nil || len(readings) != len(mints)+len(notMints) || trips != 1 {
		t.Fatalf("ReadTokens = %+v, %v in %d round trips", readings, err, trips)
	}
	for i, each := range sandbox.Tokens {
		got := readings[i]
		if got.Decimals == nil || int(*got.Decimals) != each.Decimals || got.Name != each.Name {
			t.Errorf("ReadTokens of %s = %+v, want %q with %d decimals", each.Mint, got, each.Name, each.Decimals)
		}
	}
	for i, got := range readings[len(mints):] {
		if got != (token.Reading{IsSingle: true}) {
			t.Errorf("ReadTokens of %s, which is no mint = %+v", notMints[i], got)
		}
	}
}

// TestReadTokensReadsVeryMany needs more accounts than a node returns per call.
func TestReadTokensReadsVeryMany(t *testing.T) {
	w := newWorld(t)
	mints := slices.Repeat([]chain.Address{chain.NewAddress(usdc.Mint[:])}, 120)
	readings, err := w.chain().ReadTokens(t.Context(), mints)
	if err != nil || len(readings) != len(mints) || readings[119].Symbol != "USDC" {
		t.Errorf("ReadTokens of %d mints = %d readings, %v", len(mints), len(readings), err)
	}
	if readings, err := w.chain().ReadTokens(t.Context(), nil); err != nil || len(readings) != 0 {
		t.Errorf("ReadTokens of nothing = %+v, %v", readings, err)
	}
}
