package upstream

import (
	"slices"
	"strconv"
	"testing"
)

func TestTellersAreNamedOnceAndTheOldestForgotten(t *testing.T) {
	var told Tellers
	for _, by := range []string{"first", "second", "", "first"} {
		told.Heard("block", by)
	}
	if got := told.Of("block"); !slices.Equal(got, []string{"first", "second"}) {
		t.Errorf("Of = %q", got)
	}
	if got := told.Of("another"); got != nil {
		t.Errorf("Of what nobody told = %q", got)
	}
	for i := range tellersKept {
		told.Heard(strconv.Itoa(i), "first")
	}
	if got := told.Of("block"); got != nil {
		t.Errorf("the oldest is remembered by %q", got)
	}
	if got := told.Of(strconv.Itoa(tellersKept - 1)); len(got) != 1 || len(told.of) > tellersKept || len(told.of) != len(told.kept) {
		t.Errorf("the newest is told by %q, among %d", got, len(told.of))
	}
}
