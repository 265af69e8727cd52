package swap

import (
	"errors"
	"fmt"
	"testing"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/creation"
	"crossgate/quote"
)

// TestWhatNoNodeRanIsNotSimulated has nodes that answer nothing where the outcome of a transaction stands, as gateways
// do whose own nodes fail.
func TestWhatNoNodeRanIsNotSimulated(t *testing.T) {
	const ran = `"result":"0x"`
	for _, test := range []struct {
		name, simulated, called string // of eth_simulateV1 and eth_call
		ok                      bool
	}{
		{"run", fault(-32601, "the method does not exist"), ran, true},
		{"null of a call", fault(-32601, "the method does not exist"), `"result":null`, false},
		{"null of a simulation", `"result":null`, ran, false},
		{"blocks that are null", `"result":[null,null]`, ran, false},
	} {
		n := &node{answers: map[string]string{
			"eth_getBlockByNumber": `"result":{"number":"0x3e8","timestamp":"0x6553f100","miner":"0x0000000000000000000000000000000000000001"}`,
			"eth_simulateV1":       test.simulated, "eth_call": test.called, "eth_gasPrice": `"result":"0x1"`,
			"eth_getBalance": fmt.Sprintf(`"result":"0x%x"`, uint64(1e18)), "eth_estimateGas": `"result":"0x30000"`,
		}}
		sender := chain.NewAddress([]byte("the sender's address"))
		got, err := NewSimulator(n.serve(t, documented(t, 8453))).Simulate(t.Context(), quote.Simulation{
			Sender: sender, Recipient: sender, In: chain.NativeCoin(chain.EVM), Out: someToken,
			AmountIn: chain.NewAmount(1), Tx: quote.Tx{To: otherToken, Data: make([]byte, 4), Value: chain.NewAmount(1)},
		})
		if (err == nil) != test.ok || errors.Is(err, quote.ErrReverted) {
			t.Errorf("%s: Simulate() = %+v, %v", test.name, got, err)
		}
	}
}

// TestChainsWithoutAContractCancelNothing: some have no gate, and some no adapter of external calls.
func TestChainsWithoutAContractCancelNothing(t *testing.T) {
	bare := documented(t, 5042)
	bare.Contracts.ExternalCallAdapter = chain.Address{}
	s := NewSimulator((&node{}).serve(t, bare))
	if tx, err := s.message(t.Context(), placeholderHolder, []byte{1, 2, 3, 4}); !errors.Is(err, creation.ErrNotHere) {
		t.Errorf("message = %+v, %v, want ErrNotHere", tx, err)
	}
	terms := order.Terms{ExternalCall: []byte{1}}
	if tx, err := s.CancelCall(t.Context(), order.ID{}, terms, chain.NewAmount(1)); !errors.Is(err, creation.ErrNotHere) {
		t.Errorf("CancelCall = %+v, %v, want ErrNotHere", tx, err)
	}
}
