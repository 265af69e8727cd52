package rfc9111

import "testing"

func TestMissingIsOnePieceThatTouches(t *testing.T) {
	for _, c := range []struct {
		stored, needed, want Extent
		isOne                bool
	}{
		{Extent{0, 5, 10}, Extent{0, 10, 10}, Extent{5, 10, 10}, true},
		{Extent{0, 5, 10}, Extent{3, 7, 10}, Extent{5, 7, 10}, true},
		{Extent{0, 5, 10}, Extent{5, 7, 10}, Extent{5, 7, 10}, true},
		{Extent{5, 10, 10}, Extent{0, 10, 10}, Extent{0, 5, 10}, true},
		{Extent{5, 8, 10}, Extent{2, 6, 10}, Extent{2, 5, 10}, true},
		{Extent{5, 8, 10}, Extent{2, 5, 10}, Extent{2, 5, 10}, true},
		{Extent{0, 5, 10}, Extent{6, 7, 10}, Extent{}, false},  // a gap
		{Extent{4, 6, 10}, Extent{0, 10, 10}, Extent{}, false}, // on both sides
		{Extent{4, 6, 10}, Extent{4, 6, 10}, Extent{}, false},  // nothing
		{Extent{5, 8, 10}, Extent{2, 4, 10}, Extent{}, false},  // before, with a gap
		{Extent{5, 8, 10}, Extent{2, 10, 10}, Extent{}, false}, // more than it on both sides
	} {
		if got, isOne := Missing(c.stored, c.needed); got != c.want || isOne != c.isOne {
			t.Errorf("of %v, with %v stored: %v, %t, want %v, %t", c.needed, c.stored, got, isOne, c.want, c.isOne)
		}
	}
}
