package crosschain

import (
	"testing"

	"crossgate/chain"
)

// TestWorkGoesByTheChains covers fulfil, unlock and claim between families, with a swap and an external call.
func TestWorkGoesByTheChains(t *testing.T) {
	evm, slow := chain.Chain{Family: chain.EVM}, chain.Chain{Family: chain.EVM, ID: avalanche}
	svm := chain.Chain{Family: chain.SVM, ID: chain.Solana}
	type part struct{ gas, bytes, rent, orders uint64 }
	const state, token, call, message = 1_656_480, 2_039_280, 2_039_280, 1_781_760
	for _, row := range []struct {
		name string
		work work
		want [3]part
	}{
		{"EVM", work{give: evm, take: evm}, [3]part{{140_000, 562, state + token, 1}, {320_000, 625, message, 10}, {900_000, 1562, message, 10}}},
		{"the coin", work{give: evm, take: svm, takesCoin: true}, [3]part{{140_000, 562, state, 1}, {260_000, 625, message, 7}, {750_000, 1562, message, 7}}},
		{"a call", work{give: evm, take: svm, calls: true, takesCoin: true}, [3]part{{250_000, 562, state + call, 1}, {260_000, 625, message, 7}, {750_000, 1562, message, 7}}},
		{"from Solana", work{give: svm, take: evm, swaps: true}, [3]part{{390_000, 1562, state + token, 1}, {260_000, 3125, message, 7}, {750_000, 1562, message, 7}}},
		{"to Avalanche", work{give: evm, take: slow, calls: true, callGas: 5}, [3]part{{250_005, 562, state + token + call, 1}, {350_000, 625, message, 10}, {900_000, 1562, message, 10}}},
	} {
		for i, u := range row.work.units() {
			if got := (part{u.gas, uint64(u.bytes), u.rent, u.orders}); got != row.want[i] {
				t.Errorf("%s: %s takes %+v, want %+v", row.name, u.name, got, row.want[i])
			}
		}
	}
}
