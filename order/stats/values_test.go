package stats

import (
	"math/big"
	"testing"

	"crossgate/chain"
)

// TestNonsensePricesAreNoValues values amounts that nothing is worth.
func TestNonsensePricesAreNoValues(t *testing.T) {
	for _, row := range []struct {
		amount uint64
		usd    *big.Rat
		want   int64 // -1: not known
	}{
		{1, big.NewRat(1, 1), 1_000_000},
		{0, nil, 0},
		{5, nil, -1},
		{1, big.NewRat(1, 3), 333_333},
		{3, big.NewRat(1, 10_000_000), 0},
		{1, big.NewRat(1_000_000_001, 1), -1},
		{1 << 63, big.NewRat(1<<62, 1), -1},
	} {
		got := int64(-1)
		if n := micros(chain.NewAmount(row.amount), row.usd); n != nil {
			got = *n
		}
		if got != row.want {
			t.Errorf("micros(%d, %v) = %d, want %d", row.amount, row.usd, got, row.want)
		}
	}
}
