package quote

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRecordsTellWhatBecameOfVenues(t *testing.T) {
	e := &Estimator{venues: []profiledVenue{{profile: Profile{Name: "a"}}, {profile: Profile{Name: "b"}}, {profile: Profile{Name: "c"}}}, Options: Options{History: &History{}}}
	first, second := time.Unix(1, 0), time.Unix(2, 0)
	refused := errors.New("HTTP 500")
	e.History.note(t.Context(), slog.New(slog.DiscardHandler), first, []Asked{
		{Venue: "b", Verdict: Won, Took: 2 * time.Millisecond},
		{Venue: "a", Verdict: Refused, Took: time.Millisecond, Err: refused},
		{Venue: "c", Verdict: LeftOut, Err: errors.New("does not serve the chain")},
	})
	e.History.note(t.Context(), slog.New(slog.DiscardHandler), second, []Asked{{Venue: "a", Verdict: Outbid, Took: 3 * time.Millisecond}, {Venue: "b", Verdict: Silent}})
	want := []Record{
		{Name: "a", Outbid: 1, Refused: 1, Took: 3 * time.Millisecond, Reason: "HTTP 500", At: first},
		{Name: "b", Won: 1, Silent: 1, Took: 2 * time.Millisecond},
		{Name: "c", LeftOut: 1},
	}
	if diff := cmp.Diff(want, e.Records()); diff != "" {
		t.Errorf("Records() (-want +got):\n%s", diff)
	}
}
