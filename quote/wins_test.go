package quote

import (
	"cmp"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	diff "github.com/google/go-cmp/cmp"

	"crossgate/chain"
)

func TestWinsCountWhoWonAndByHowMuch(t *testing.T) {
	paid := func(venue string, verdict Verdict, net uint64, err error) Asked {
		return Asked{Venue: venue, Verdict: verdict, Net: chain.NewAmount(net), Err: err}
	}
	var w History
	now := time.Unix(3*86_400+5, 0)
	for _, all := range [][]Asked{
		// A venue by both ways, one that cannot be taken, one that is a little worse, one that failed.
		{paid("a", Won, 1_010_000, nil), paid("a", Outbid, 1_009_000, nil), paid("b", Outbid, 2_000_000, errors.New("compared only")), paid("c", Outbid, 1_000_000, nil), paid("c", Outbid, 999_000, nil), paid("d", Refused, 0, nil)},
		// The cheaper gas decides.
		{paid("c", Won, 990_000, nil), paid("a", Outbid, 1_000_000, nil)},
		// Nobody else.
		{paid("c", Won, 5, nil), paid("a", Silent, 0, nil)},
		// The other quote is none.
		{paid("b", Won, 1_000_000, nil), paid("a", Outbid, 1, nil)},
		// One that could not be taken, though better, and one of nothing.
		{paid("c", Won, 5, nil), paid("b", Outbid, 9, errors.New("compared only")), paid("a", Outbid, 0, nil)},
		// No winner, and nobody asked.
		{paid("a", Outbid, 5, nil)},
		{},
	} {
		w.note(t.Context(), slog.New(slog.DiscardHandler), now, all)
	}
	want := []VenueDay{
		{Day: 3, Venue: "a", Quoted: 4, Won: 1, Contested: 1, Gain: 10_000},
		{Day: 3, Venue: "b", Quoted: 3, Won: 1, Contested: 1, Gain: 1_000_000},
		{Day: 3, Venue: "c", Quoted: 4, Won: 3, Contested: 1, Gain: -10_000},
	}
	got := w.Take()
	slices.SortFunc(got, func(a, b VenueDay) int { return cmp.Compare(a.Venue, b.Venue) })
	if d := diff.Diff(want, got); d != "" {
		t.Errorf("wins (-want +got):\n%s", d)
	}
	w.Add(got...)
	w.Add(got...)
	if again := w.Take(); len(again) != 3 || len(w.Take()) != 0 {
		t.Errorf("what could not be kept comes to %+v", again)
	}
}
