package stats

import (
	"database/sql"
	"strings"
	"testing"

	"crossgate/internal/must"
	"crossgate/store"
)

// TestDeliveryTimesReadNothingButTheirIndex looks at how SQLite goes about it.
func TestDeliveryTimesReadNothingButTheirIndex(t *testing.T) {
	db := must.Get(store.OpenSQLite(t.Context(), t.TempDir()+"/orders.db"))(t)
	t.Cleanup(func() { db.Close() })
	var plan []string
	err := db.ForEachRow(t.Context(), func(rows *sql.Rows) error {
		var id, parent, unused int
		var step string
		err := rows.Scan(&id, &parent, &unused, &step)
		plan = append(plan, step)
		return err
	}, "EXPLAIN QUERY PLAN "+deliveredIn, 1, 2)
	if err != nil || len(plan) == 0 || !strings.Contains(plan[0], "USING COVERING INDEX order_values_day (day>? AND day<?)") {
		t.Errorf("the plan is %q, %v", plan, err)
	}
}
