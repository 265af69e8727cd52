package list

import (
	"cmp"
	"slices"
	"testing"

	"crossgate/order"
)

// TestCountsAreWrittenInOneSequence: of two transactions that count some of the same rows, one waits for the other.
// In different sequences each would wait for the other.
func TestCountsAreWrittenInOneSequence(t *testing.T) {
	c := change{counts: map[counted]int64{}}
	for n := range int64(50) {
		row := &Row{terms: terms{at: (n % 7) * periodSeconds, referral: n % 5}, cell: 1000 + n}
		c.replace(order.ID{byte(n)}, nil, row)
	}
	rows := c.countRows()
	isAscending := slices.IsSortedFunc(rows, func(a, b []any) int {
		return cmp.Or(cmp.Compare(a[0].(int64), b[0].(int64)), cmp.Compare(a[1].(int64), b[1].(int64)), cmp.Compare(a[2].(int64), b[2].(int64)))
	})
	if len(rows) < 50 || !isAscending {
		t.Errorf("%d counts, ascending %t, want them by period, cell and kind", len(rows), isAscending)
	}
}
