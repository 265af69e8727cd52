package processes_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"crossgate/internal/must"
	"crossgate/sandbox/sandboxtest"
	"crossgate/store"
)

// TestImportStoresWhatABackfillWould imports the orders of a taker into an empty database, and compares them with those
// of a database into which every block was read.
func TestImportStoresWhatABackfillWould(t *testing.T) {
	t.Parallel()
	world, dir := sandboxtest.Shared(t), t.TempDir()
	whole, alone := filepath.Join(dir, "whole.db"), filepath.Join(dir, "alone.db")
	for _, database := range []string{whole, alone} {
		must.Do(t, os.WriteFile(database+".yaml", world.Config(database), 0o600))
	}
	indexCommand(t, 0, "backfill", "--config", whole+".yaml")
	taker, ids := busiestTaker(t, whole)
	list := filepath.Join(dir, "ids.txt")
	must.Do(t, os.WriteFile(list, []byte(strings.Join(ids, "\n")), 0o600))
	arguments := []string{"index", "import", "--config", alone + ".yaml", "--taker", taker, list}
	for _, want := range []string{
		fmt.Sprintf("%d orders listed: 0 were stored, %d verified, 0 of others, 0 not verified", len(ids), len(ids)),
		fmt.Sprintf("%d orders listed: %d were stored, 0 verified, 0 of others, 0 not verified", len(ids), len(ids)),
	} {
		if said := indexCommand(t, 0, arguments...); !strings.Contains(said, want) {
			t.Errorf("index import said\n%s\nwant %q in it", said, want)
		}
	}
	of := `SELECT hex(id), state, locked, give_chain, take_chain, give_amount FROM orders WHERE '0x' || lower(hex(id)) IN ('` +
		strings.Join(ids, "','") + `') ORDER BY id`
	if was, is := dump(t, whole, of), dump(t, alone, of); was != is || was == "" {
		t.Errorf("imported:\n%s\nbackfilled:\n%s", is, was)
	}
	indexCommand(t, 0, "index", "audit", "--config", alone+".yaml", "--taker", taker)
	unknown := "0x" + strings.Repeat("0", 64)
	must.Do(t, os.WriteFile(list, []byte(unknown+"\n"+ids[0]), 0o600))
	if said := indexCommand(t, 1, arguments...); !strings.Contains(said, unknown+": not verified: ") || strings.Contains(said, ids[0]) {
		t.Errorf("index import of an order that does not exist said\n%s", said)
	}
}

// busiestTaker returns the EVM address with the most delivered orders whose creation is stored as well, and their ids.
func busiestTaker(t *testing.T, database string) (taker string, ids []string) {
	t.Helper()
	by := map[string][]string{}
	withStore(t, database, func(db *store.DB) error {
		return db.ForEachRow(t.Context(), func(rows *sql.Rows) error {
			var id, authority []byte
			err := rows.Scan(&id, &authority)
			name := fmt.Sprintf("0x%x", authority)
			if by[name] = append(by[name], fmt.Sprintf("0x%x", id)); len(by[name]) > len(ids) {
				taker, ids = name, by[name]
			}
			return err
		}, `SELECT id, unlock_authority FROM orders WHERE length(unlock_authority) = 20
			AND EXISTS (SELECT 1 FROM events WHERE order_id = orders.id AND kind = 'created') ORDER BY id`)
	})
	if len(ids) < 3 {
		t.Fatalf("the busiest taker, %s, has delivered %d orders", taker, len(ids))
	}
	return taker, ids
}
