package list

import (
	"slices"
	"testing"

	"crossgate/chain"
	"crossgate/order"
)

// TestCellsAreDistinct numbers what every pair of known chains and every type of trade may be.
func TestCellsAreDistinct(t *testing.T) {
	seen := map[int64]bool{}
	for _, from := range chain.Documented().All() {
		for _, to := range chain.Documented().All() {
			for _, state := range []order.State{order.StateCreated, order.StateClaimedOrderCancel} {
				for _, call := range []order.ExternalCallState{order.NoExtCall, order.OrderCancelled} {
					for _, tradeType := range append(TradeTypes(), "") {
						cell := cellOf(from.ID, to.ID, state, call, tradeType)
						if seen[cell] || cell < cellsFrom || cell%fewValues == ofSwaps || !slices.Contains(tradeTypes, tradeType) {
							t.Fatalf("cell %d of chains %d and %d is another one too, or a referral code", cell, from.ID, to.ID)
						}
						seen[cell] = true
					}
				}
			}
		}
	}
}
