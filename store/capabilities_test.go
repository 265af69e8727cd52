package store

import (
	"testing"
	"time"
)

// TestCapabilitiesAreTheLatest has both databases.
func TestCapabilitiesAreTheLatest(t *testing.T) {
	for name, store := range map[string]*DB{"SQLite": openStore(t), "PostgreSQL": openPostgres(t)} {
		now := time.UnixMicro(time.Now().UnixMicro())
		for _, limits := range []string{`{"span":50}`, `{"span":100}`} {
			err := store.KeepCapabilities(t.Context(), []Capabilities{
				{Service: "56", Endpoint: "node", Limits: []byte(limits), Learned: now}, {Service: "1", Endpoint: "node", Limits: []byte("{}"), Learned: now},
			})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		known, err := store.Capabilities(t.Context())
		if err != nil || len(known) != 2 || known[1].Service != "56" || string(known[1].Limits) != `{"span":100}` || !known[1].Learned.Equal(now) {
			t.Errorf("%s: Capabilities() = %+v, %v, want the latest of each endpoint", name, known, err)
		}
	}
}
