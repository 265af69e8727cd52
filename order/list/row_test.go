package list

import (
	"cmp"
	"database/sql"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/store"
)

// TestCellsAreDistinct numbers the cells of all pairs of known chains and all types of trade.
func TestCellsAreDistinct(t *testing.T) {
	seen := map[int64]bool{}
	for _, from := range chain.Documented().All() {
		for _, to := range chain.Documented().All() {
			for _, state := range []order.State{order.StateCreated, order.StateClaimedOrderCancel} {
				for _, call := range []order.ExternalCallState{order.NoExtCall, order.OrderCancelled} {
					for _, tradeType := range append(TradeTypes(), "") {
						cell := cellOf(from.ID, to.ID, state, call, tradeType)
						if seen[cell] || cell%fewValues == ofSwaps || !slices.Contains(tradeTypes, tradeType) {
							t.Fatalf("cell %d of chains %d and %d is another one too", cell, from.ID, to.ID)
						}
						seen[cell] = true
					}
				}
			}
		}
	}
}

// TestCountsAreWrittenInOneSequence: of two transactions that update some of the same rows, one waits for the other. In
// different sequences they would deadlock.
func TestCountsAreWrittenInOneSequence(t *testing.T) {
	c := change{counts: map[counted]int64{}}
	for n := range int64(50) {
		row := &Row{terms: terms{at: (n % 7) * periodSeconds, referral: n % 5}, cell: 1000 + n}
		c.replace(order.ID{byte(n)}, nil, row)
	}
	rows := c.countRows()
	isAscending := slices.IsSortedFunc(rows, func(a, b []any) int {
		return cmp.Or(cmp.Compare(a[0].(int64), b[0].(int64)), cmp.Compare(a[1].(int64), b[1].(int64)), cmp.Compare(a[2].(int64), b[2].(int64)))
	})
	if len(rows) < 50 || !isAscending {
		t.Errorf("%d counts, ascending %t, want them by subject, period and cell", len(rows), isAscending)
	}
}

// TestBucketsFollowEachOther puts each amount into the bucket whose bounds enclose it, up to the largest amount.
func TestBucketsFollowEachOther(t *testing.T) {
	largest := *lastBefore(2 * 255)
	for range 2 {
		largest = largest.Add(largest).Add(chain.NewAmount(1))
	}
	amounts := []chain.Amount{largest, largest.Sub(chain.NewAmount(1))}
	for n := range uint64(70_000) {
		amounts = append(amounts, chain.NewAmount(n), chain.NewAmount(1<<63+n<<40))
	}
	for _, a := range amounts {
		bucket := bucketOf(a)
		least, last := leastIn(bucket), lastBefore(bucket+1)
		if a.Cmp(least) < 0 || (last == nil) != (bucket == bucketOf(largest)) || last != nil && a.Cmp(*last) > 0 || bucketOf(least) != bucket {
			t.Fatalf("%s is in bucket %d, from %s to %s", a, bucket, least, last)
		}
	}
}

// TestRowsAreCountedInIndexesAlone checks how SQLite counts rows that listed_counts does not cover: one by one, but
// never in the table, whose rows are ten times as long.
func TestRowsAreCountedInIndexesAlone(t *testing.T) {
	db := must.Get(store.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "orders.db")))(t)
	t.Cleanup(func() { db.Close() })
	someone, amount, referral := chain.NewAddress([]byte("someone")), chain.NewAmount(7), uint32(7)
	states := []order.State{order.StateFulfilled}
	for index, filters := range map[string][]Filter{
		"listed_key":              {{Since: 7, TradeType: "Market"}, {Since: 7, Until: 9}},
		"listed_referral":         {{ReferralCode: &referral, States: states}, {ReferralCode: &referral, Since: 7}},
		"listed_give_token":       {{GiveToken: someone, Given: Amounts{From: &amount}}, {GiveToken: someone, GiveChains: []chain.ID{1}}},
		"listed_take_token":       {{TakeToken: someone, Taken: Amounts{To: &amount}, States: states}},
		"listed_usd":              {{USD: Amounts{From: &amount}}, {USD: Amounts{From: &amount, To: &amount}, States: states}},
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
