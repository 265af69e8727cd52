package evm_test

import (
	"errors"
	"net/http"
	"testing"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/quote"
)

// TestPlainCallsMeasureAsSimulationsDo proves that nodes without eth_simulateV1 measure the same gain of the recipient,
// for the sender and for others, with and without the public router, and the same remainder in the router.
func TestPlainCallsMeasureAsSimulationsDo(t *testing.T) {
	old := &oldNode{asked: map[string]int{}}
	today := openStall(t, nil)
	plain := openStall(t, func(node string) http.Handler { old.behind = node; return old })
	rich := chain.NewAddress(today.user.Bytes())
	for _, row := range []struct {
		in, out        string
		amount, routed int64 // what the public router passes on to the venue; zero: it is not used
		sender, to     chain.Address
	}{
		{"coin", "USDC", 1e17, 0, nobody, payee},
		{"coin", "USDC", 1e17, 0, rich, rich},
		{"USDC", "coin", 250e6, 0, nobody, nobody},
		{"USDC", "coin", 250e6, 0, rich, payee},
		{"USDC", "coin", 250e6, 0, rich, rich},
		{"USDC", "DAI", 250e6, 0, nobody, payee},
		{"wrapped", "USDC", 1e17, 0, nobody, nobody},
		{"MKR", "coin", 1e17, 0, nobody, payee},
		{"USDC", "DAI", 250e6, 250e6, nobody, payee},
		{"USDC", "DAI", 250e6, 200e6, rich, payee},
		{"coin", "DAI", 1e17, 1e17, rich, payee},
	} {
		tx, through := today.swap(row.in, row.out, row.amount, 1, row.to), chain.Address{}
		if row.routed > 0 {
			through = today.public
			tx = today.routed(row.in, row.out, row.amount, 1, today.swap(row.in, row.out, row.routed, 1, today.public))
		}
		trial := today.trial(row.in, row.out, row.amount, tx, through)
		trial.Sender, trial.Recipient = row.sender, row.to
		want := must.Get(today.simulator.Simulate(t.Context(), trial))(t)
		got, err := plain.simulator.Simulate(t.Context(), trial)
		if err != nil || !got.Measured || got.Received != want.Received || got.Left != want.Left || got.Gas < 60_000 || want.Received.IsZero() {
			t.Errorf("%s to %s: found %+v, %v, want %+v", row.in, row.out, got, err, want)
		}
	}
	bad := plain.swap("USDC", "WBTC", 250e6, 1<<62, payee)
	if _, err := plain.simulator.Simulate(t.Context(), plain.trial("USDC", "WBTC", 250e6, bad, chain.Address{})); !errors.Is(err, quote.ErrReverted) {
		t.Errorf("a swap below the minimum: %v, want ErrReverted", err)
	}
	if n := old.asked["eth_simulateV1"]; n != 2 {
		t.Errorf("eth_simulateV1 was asked for %d times, want for two blocks, once", n)
	}
}

var deposit = []byte{0xd0, 0xe3, 0x0d, 0xb0} // deposit()

// TestNodesWithoutOverridesMeasureCoinsAlone covers nodes that ignore or reject overrides: only swaps from the coin to
// a token are measured, once the node has shown that.
func TestNodesWithoutOverridesMeasureCoinsAlone(t *testing.T) {
	for _, node := range []*oldNode{{asked: map[string]int{}, drops: true}, {asked: map[string]int{}, refuses: true}} {
		s := openStall(t, func(url string) http.Handler { node.behind = url; return node })
		for again := range 2 {
			trial := s.trial("coin", "USDC", 1e17, s.swap("coin", "USDC", 1e17, 1, payee), chain.Address{})
			trial.Sender = chain.NewAddress(s.user.Bytes())
			got, err := s.simulator.Simulate(t.Context(), trial)
			if err != nil || got.Gas < 60_000 || got.Measured == got.Received.IsZero() {
				t.Errorf("drops %t: found %+v, %v, want that it goes through, and its gas", node.drops, got, err)
			}
			if want := again > 0; got.Measured != want {
				t.Errorf("drops %t, call %d: measured %t, want %t", node.drops, again, got.Measured, want)
			}
			if to := s.trial("coin", "wrapped", 1e17, quote.Tx{To: s.tokens["wrapped"], Data: deposit, Value: chain.NewAmount(1e17)}, chain.Address{}); again > 0 {
				to.Sender, to.Recipient = trial.Sender, trial.Sender
				if got, err := s.simulator.Simulate(t.Context(), to); err != nil || got.Measured {
					t.Errorf("drops %t, a contract that pays its caller: found %+v, %v, want nothing measured", node.drops, got, err)
				}
			}
			trial.Sender = nobody
			if got, err := s.simulator.Simulate(t.Context(), trial); err == nil || errors.Is(err, quote.ErrReverted) {
				t.Errorf("drops %t, a sender who has nothing: %+v, %v, want that it was not simulated", node.drops, got, err)
			}
		}
	}
}
