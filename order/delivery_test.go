package order

import "testing"

func TestTimesOfAreNearestRanks(t *testing.T) {
	for _, row := range []struct {
		name     string
		all      []Took
		orders   uint64
		p50, p95 uint64
	}{
		{"none", nil, 0, 0, 0},
		{"one", []Took{{7, 1}}, 1, 7, 7},
		{"two", []Took{{1, 1}, {9, 1}}, 2, 1, 9},
		{"half and half", []Took{{1, 10}, {9, 10}}, 20, 1, 9},
		{"nineteen of twenty", []Took{{1, 19}, {9, 1}}, 20, 1, 1},
		{"just above", []Took{{1, 9}, {2, 9}, {9, 3}}, 21, 2, 9},
	} {
		want := DeliveryTimes{1, 137, row.orders, row.p50, row.p95}
		if got := TimesOf(1, 137, row.all); got != want {
			t.Errorf("%s: %+v, want %+v", row.name, got, want)
		}
	}
}
