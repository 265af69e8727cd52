package store

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"crossgate/internal/must"
	"crossgate/quote"
)

func TestVenueDaysAddUp(t *testing.T) {
	for name, db := range map[string]*DB{"SQLite": openStore(t), "PostgreSQL": openPostgres(t)} {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				must.Do(t, db.AddVenueDays(t.Context(), []quote.VenueDay{
					{Day: 3, Venue: "a", Quoted: 5, Won: 2, Contested: 1, Gain: -7},
					{Day: 4, Venue: "a", Quoted: 1, Won: 1},
					{Day: 4, Venue: "b", Quoted: 6, Won: 5, Contested: 5, Gain: 50},
					{Day: 5, Venue: "b", Quoted: 1},
				}))
			}
			want := []quote.VenueDay{
				{Venue: "b", Quoted: 12, Won: 10, Contested: 10, Gain: 100}, {Venue: "a", Quoted: 12, Won: 6, Contested: 2, Gain: -14},
			}
			got, err := db.Venues(t.Context(), 3, 4)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("of days 3 and 4: %v (-want +got):\n%s", err, diff)
			}
		})
	}
}
