package list

import (
	"slices"
	"testing"

	"crossgate/chain"
)

// TestCellsAreDistinct numbers what every pair of known chains and every type of trade may be.
func TestCellsAreDistinct(t *testing.T) {
	seen := map[int64]values{}
	for _, from := range chain.Documented().All() {
		for _, to := range chain.Documented().All() {
			for _, state := range []int64{1, 7} {
				for _, call := range []int64{0, 7} {
					for _, tradeType := range append(TradeTypes(), "") {
						v := values{int64(from.ID), int64(to.ID), state, call, tradeType}
						if other, is := seen[v.cell()]; is || v.cell() < 1<<32 || !slices.Contains(tradeTypes, tradeType) {
							t.Fatalf("%+v is cell %d, as is %+v, or one of a referral code", v, v.cell(), other)
						}
						seen[v.cell()] = v
					}
				}
			}
		}
	}
}
