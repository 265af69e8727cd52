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
		// A venue by both ways, one that cannot be used, one that is slightly worse, one that failed.
		{paid("a", Won, 1_010_000, nil), paid("a", Outbid, 1_009_000, nil), paid("b", Outbid, 2_000_000, errors.New("compared only")), paid("c", Outbid, 1_000_000, nil), paid("c", Outbid, 999_000, nil), paid("d", Refused, 0, nil)},
		// The lower gas decides.
		{paid("c", Won, 990_000, nil), paid("a", Outbid, 1_000_000, nil)},
		// No competitor.
		{paid("c", Won, 5, nil), paid("a", Silent, 0, nil)},
		// The other quote is negligible.
		{paid("b", Won, 1_000_000, nil), paid("a", Outbid, 1, nil)},
		// A better one that could not be used, and one of zero.
		{paid("c", Won, 5, nil), paid("b", Outbid, 9, errors.New("compared only")), paid("a", Outbid, 0, nil)},
		// No winner, and an empty comparison.
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
