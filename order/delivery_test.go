package order

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTimesOfAreNearestRanks(t *testing.T) {
	took := func(seconds, orders uint64) Took { return Took{Seconds: &seconds, Orders: orders} }
	for _, row := range []struct {
		name     string
		all      []Took
		orders   uint64
		p50, p95 uint64
	}{
		{"none", nil, 0, 0, 0},
		{"none delivered", []Took{{Orders: 4}}, 0, 0, 0},
		{"one", []Took{took(7, 1)}, 1, 7, 7},
		{"two", []Took{took(1, 1), took(9, 1)}, 2, 1, 9},
		{"half and half", []Took{took(1, 10), took(9, 10)}, 20, 1, 9},
		{"nineteen of twenty", []Took{took(1, 19), took(9, 1)}, 20, 1, 1},
		{"just above", []Took{took(1, 9), took(2, 9), {Orders: 30}, took(9, 3)}, 21, 2, 9},
	} {
		want := DeliveryTimes{Give: 1, Take: 137, Orders: row.orders, P50: row.p50, P95: row.p95}
		if diff := cmp.Diff(want, TimesOf(1, 137, row.all)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.name, diff)
		}
	}
}

// TestFillsAreOfTheirMargin has orders of three margins and without one.
func TestFillsAreOfTheirMargin(t *testing.T) {
	took := func(seconds uint64, margin Margin, orders uint64) Took { return Took{&seconds, &margin, orders} }
	low, rich := MarginOf(100, 100.5), MarginOf(100, 50)
	usual := MarginOf(1000, 999.5)
	got := TimesOf(1, 137, []Took{
		took(3, usual, 1), took(3, rich, 2), took(4, usual, 2), {Seconds: new(uint64), Orders: 9}, took(60, usual, 1), {Margin: &usual, Orders: 4}, {Margin: &low, Orders: 5},
	}).Fills
	if diff := cmp.Diff([]Fills{{low, 5, 0, 0}, {usual, 8, 4, 4}, {rich, 2, 2, 3}}, got); diff != "" {
		t.Errorf("fills (-want +got):\n%s", diff)
	}
}

// TestMarginsHaveTheirBounds compares each class of margins with its bounds, in basis points.
func TestMarginsHaveTheirBounds(t *testing.T) {
	for _, row := range []struct {
		taken       float64 // of 10,000
		from, below int64   // -1: none
	}{
		{20_000, -1, 0}, {10_000.5, -1, 0}, {10_000, 0, 10}, {9_991, 0, 10}, {9_990, 10, 30}, {9_900, 100, 300}, {9_000, 1000, -1}, {0, 1000, -1},
	} {
		from, below := MarginOf(10_000, row.taken).Bounds()
		text := func(n *int64) int64 {
			if n == nil {
				return -1
			}
			return *n
		}
		if text(from) != row.from || text(below) != row.below {
			t.Errorf("a margin of %g bps is from %d to %d, want %d to %d", 10_000-row.taken, text(from), text(below), row.from, row.below)
		}
	}
}
