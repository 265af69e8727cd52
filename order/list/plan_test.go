package list

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/store"
)

// TestRowsAreCountedInIndexesAlone looks at how SQLite counts what listed_counts has not: row by row, but never in the
// table, whose rows are ten times as long.
func TestRowsAreCountedInIndexesAlone(t *testing.T) {
	db := must.Get(store.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "orders.db")))(t)
	t.Cleanup(func() { db.Close() })
	someone, amount, usd, referral := chain.NewAddress([]byte("someone")), chain.NewAmount(7), int64(7), uint32(7)
	states := []order.State{order.StateFulfilled}
	for index, filters := range map[string][]Filter{
		"listed_key":              {{Since: 7, TradeType: "Market"}, {Since: 7, Until: 9}},
		"listed_referral":         {{ReferralCode: &referral, States: states}, {ReferralCode: &referral, Since: 7}},
		"listed_give_token":       {{GiveToken: someone, Given: Amounts{From: &amount}}, {GiveToken: someone, GiveChains: []chain.ID{1}}},
		"listed_take_token":       {{TakeToken: someone, Taken: Amounts{To: &amount}, States: states}},
		"listed_usd":              {{USD: USD{From: &usd}}, {USD: USD{From: &usd, To: &usd}, States: states}},
		"listed_fulfiller":        {{Fulfiller: someone, States: states}},
		"listed_unlock_authority": {{UnlockAuthorities: []chain.Address{someone}, States: states, Since: 7}},
	} {
		for _, f := range filters {
			var plan []string
			s := search{db: db, filter: f}
			q := s.query(f)
			err := db.ForEachRow(t.Context(), func(rows *sql.Rows) error {
				var step string
				err := rows.Scan(new(int), new(int), new(int), &step)
				plan = append(plan, step)
				return err
			}, "EXPLAIN QUERY PLAN SELECT COUNT(*) FROM listed"+q.where(), q.arguments...)
			if err != nil || len(plan) == 0 || !strings.Contains(plan[0], "USING COVERING INDEX "+index) {
				t.Errorf("%+v is counted so: %q, %v, want in %s alone", f, plan, err, index)
			}
		}
	}
}
