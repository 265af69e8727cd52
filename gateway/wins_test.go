package gateway

import (
	"log/slog"
	"path/filepath"
	"testing"

	"crossgate/internal/must"
	"crossgate/quote"
	"crossgate/store"
)

// TestWinsThatCannotBeKeptAreKeptLater writes to a database that is closed, and then to one that is not.
func TestWinsThatCannotBeKeptAreKeptLater(t *testing.T) {
	open := func() *store.DB {
		return must.Get(store.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "orders.db")))(t)
	}
	away, there := open(), open()
	must.Do(t, away.Close())
	defer there.Close()
	wins := &quote.History{}
	b := newWinBook(away, wins, slog.New(slog.DiscardHandler))
	wins.Add(quote.VenueDay{Day: 3, Venue: "a", Quoted: 2, Won: 1})
	b.update(t.Context())
	wins.Add(quote.VenueDay{Day: 3, Venue: "a", Quoted: 1, Won: 1})
	b.store = there
	b.update(t.Context())
	b.update(t.Context())
	got, err := there.Venues(t.Context(), 0, 9)
	if want := (quote.VenueDay{Venue: "a", Quoted: 3, Won: 2}); err != nil || len(got) != 1 || got[0] != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
}
