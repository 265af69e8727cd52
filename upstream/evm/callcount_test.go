package evm_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/chain"
	"crossgate/internal/must"
)

// TestCallsForABlock counts the calls that reading one new block costs: none for a block without orders, since its
// header, which came with the head, shows that it has none. For other blocks the header gives the time.
func TestCallsForABlock(t *testing.T) {
	for name, alter := range map[string]func(method, members string) string{"times told": nil, "times not told": untimed} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { countCallsForABlock(t, alter) }) // where no proof of an identity gets old
		})
	}
}

func countCallsForABlock(t *testing.T, alter func(method, members string) string) {
	for _, recorded := range readRecordings(t) {
		p := &provider{recording: recorded, calls: map[string]int{}, alter: alter}
		c := serveAll(t, recorded.describe(), p)
		quiet, telling := uint64(0), uint64(0)
		for recorded.head = 1; recorded.head < recorded.Head; recorded.head++ {
			must.Get(c.Head(t.Context()))(t)
			clear(p.calls)
			events := must.Get(c.Events(t.Context(), recorded.head, recorded.head))(t)
			txs := map[chain.TxHash]bool{}
			for _, e := range events {
				txs[e.At.Tx] = true
			}
			want := map[string]int{}
			if len(events) > 0 {
				telling++
				want = map[string]int{"eth_getLogs": 1, "eth_getTransactionReceipt": len(txs)}
			} else if len(p.calls) > 0 {
				continue // before the first filter with a bit, or a log of another contract that looks like an order's
			} else {
				quiet++
			}
			if len(p.calls) > 0 && !maps.Equal(p.calls, want) {
				t.Errorf("block %d with %d events took %v, want %v", recorded.head, len(events), p.calls, want)
			}
		}
		if quiet < 50 || telling < 20 {
			t.Errorf("chain %d: %d blocks were read without a call, %d with events", recorded.ChainID, quiet, telling)
		}
	}
}

// TestCallsForARange counts the calls that reading a range of old blocks costs, and that proving it adds: one list, and
// the header that a lagging endpoint would lack.
func TestCallsForARange(t *testing.T) {
	recorded := readRecordings(t)[0]
	p := &provider{recording: recorded, calls: map[string]int{}}
	c := serveAll(t, recorded.describe(), p)
	for recorded.head = 100; recorded.head < recorded.Head; recorded.head++ { // some have filters with bits
		must.Get(c.Head(t.Context()))(t)
	}
	clear(p.calls)
	events, err := c.Events(t.Context(), 0, 200)
	if err != nil || len(events) == 0 {
		t.Fatalf("%d events, %v", len(events), err)
	}
	txs := map[chain.TxHash]bool{}
	for _, e := range events {
		txs[e.At.Tx] = true
	}
	// A list as long as the longest one is compared with its halves.
	if want := map[string]int{"eth_getLogs": 3, "eth_getBlockByNumber": 3, "eth_getTransactionReceipt": len(txs)}; !maps.Equal(p.calls, want) {
		t.Errorf("reading 201 blocks took %v, want %v", p.calls, want)
	}
	clear(p.calls)
	verdict, err := c.Verify(t.Context(), 0, 200, events)
	if err != nil || len(verdict.Events) != len(events) || len(verdict.Wrong) > 0 {
		t.Errorf("Verify() = %d events, %v, %v, want the same %d", len(verdict.Events), verdict.Wrong, err, len(events))
	}
	if want := map[string]int{"eth_getLogs": 3, "eth_getBlockByNumber": 3}; !maps.Equal(p.calls, want) {
		t.Errorf("proving 201 blocks took %v, want %v", p.calls, want)
	}
}

// TestWrongListsCostFewCalls has one of two endpoints list each log with another transaction, which does not exist.
func TestWrongListsCostFewCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where waits for retries pass at once
		recorded := readRecordings(t)[0]
		honest := &provider{recording: recorded, calls: map[string]int{}}
		lying := &provider{recording: recorded, calls: map[string]int{}, alter: func(method, members string) string {
			if method != "eth_getLogs" {
				return members
			}
			return rewriteOf(members, eachLog(func(l map[string]any) { l["transactionHash"] = flipped(l["transactionHash"].(string), 0) }))
		}}
		c := serveAll(t, recorded.describe(), lying, honest)
		events := must.Get(c.Events(t.Context(), 0, recorded.Head))(t)
		const repeats = 5 // of a call whose answer may be better a moment later
		if asked := lying.calls["eth_getTransactionReceipt"]; len(events) < 20 || asked > repeats*len(events) {
			t.Errorf("%d events took %d receipts of one endpoint, want %d at most", len(events), asked, repeats*len(events))
		}
	})
}

// nameOf returns the calls for a token's name and decimals.
func nameOf(token chain.Address) []chain.ContractCall {
	return []chain.ContractCall{{To: token, Data: []byte{0x06, 0xfd, 0xde, 0x03}}, {To: token, Data: []byte{0x31, 0x3c, 0xe5, 0x67}}}
}

// Concurrent calls of several callers go out in one round trip, and each caller gets its own answers.
func TestContractCallsGoTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &node{chainID: testChain.Native, head: 1000, storage: func(to, data string, _ uint64) string {
			if to == testChain.Contracts.Multicall.String() {
				return aggregate3(t, data, tokenAnswers)
			}
			return "!asked alone"
		}}
		c := n.serve(t, testChain)
		ask := func(ctx context.Context, token chain.Address, decimals byte, symbol string) {
			answers, err := c.CallAll(ctx, nameOf(token))
			if err != nil || len(answers) != 2 || !bytes.Contains(answers[0], []byte(symbol)) || answers[1][31] != decimals {
				t.Errorf("CallAll() of %s = %x, %v, want its name and %d decimals", token, answers, err, decimals)
			}
		}
		impatient, leave := context.WithCancel(t.Context())
		var asking sync.WaitGroup
		asking.Go(func() {
			if _, err := c.CallAll(impatient, nameOf(plainToken)); !errors.Is(err, context.Canceled) {
				t.Errorf("CallAll() of who left = %v, want his leaving", err)
			}
		})
		asking.Go(func() { ask(t.Context(), plainToken, 6, "USD Coin") })
		asking.Go(func() { ask(t.Context(), oldToken, 18, "Maker") })
		synctest.Wait() // until all wait
		leave()
		asking.Wait()
		if trips := n.trips(); trips != 1 {
			t.Errorf("three questions at once took %d round trips, want 1", trips)
		}

		asking.Go(func() { ask(t.Context(), plainToken, 6, "USD Coin") })
		<-time.After(time.Second)
		asking.Go(func() { ask(t.Context(), oldToken, 18, "Maker") })
		asking.Wait()
		if trips := n.trips(); trips != 2 {
			t.Errorf("two questions a second apart took %d round trips, want 2", trips)
		}
	})
}
