package store

import (
	"database/sql"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestListsAreTakenOverFromAnEarlierSchema has two orders and two swaps in the lists of schema 23.
func TestListsAreTakenOverFromAnEarlierSchema(t *testing.T) {
	const period = 2097152
	for name, at := range map[string]Location{
		"SQLite": {Path: filepath.Join(t.TempDir(), "orders.db")}, "PostgreSQL": {Postgres: newDatabase(t)},
	} {
		t.Run(name, func(t *testing.T) {
			if err := openAt(t, at).Close(); err != nil {
				t.Fatal(err)
			}
			if _, _, err := at.Migrate(t.Context(), 23); err != nil {
				t.Fatal(err)
			}
			maker, other, none := []byte("maker"), []byte("other"), []byte{}
			order := []any{[]byte("order 1"), period - 1, 1, 137, 6, 0, "Market", 7, maker, other, maker, maker, maker, other, other, none, []byte("tx")}
			second := append([]any{[]byte("order 2"), period}, order[2:]...)
			swap := []any{8453, 1, 2, none, period + 5, []byte("tx"), []byte("swap 1"), maker, other, none, "5", none, "6", "0", other, "1", 7}
			again := append([]any{8453, 2}, swap[2:]...) // of the same id, which is listed once
			err := at.using(func(db database) error {
				for statement, rows := range map[string][][]any{`INSERT INTO order_list VALUES`: {order, second}, `INSERT INTO swaps VALUES`: {swap, again}} {
					for _, row := range rows {
						if _, err := db.ExecContext(t.Context(), statement+` (`+placeholders(1, len(row))+`)`, row...); err != nil {
							return err
						}
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			db := openAt(t, at)
			for query, want := range map[string][]string{
				`SELECT swap || '|' || at || '|' || cell || '|' || referral_code FROM listed ORDER BY id`: {
					"0|2097151|68719547265|7", "0|2097152|68719547265|7", "1|2097157|580885741177472|7",
				},
				`SELECT period || '|' || cell || '|' || swap || '|' || listed FROM listed_counts ORDER BY period, cell, swap`: {
					"0|7|0|1", "0|68719547265|0|1", "1|7|0|1", "1|7|1|1", "1|68719547265|0|1", "1|580885741177472|1|1",
				},
				`SELECT cell FROM listed WHERE length(give_authority) = 0 AND length(fulfilled_in) = 0 AND affiliate = creator OR affiliate = receiver`: {"580885741177472"},
			} {
				var got []string
				err := db.ForEachRow(t.Context(), func(rows *sql.Rows) error {
					var text string
					err := rows.Scan(&text)
					got = append(got, text)
					return err
				}, query)
				if diff := cmp.Diff(want, got); err != nil || diff != "" {
					t.Errorf("%s: %v (-want +got)\n%s", query, err, diff)
				}
			}
		})
	}
}

// placeholders are those of so many arguments of a statement: "$2, $3" for two from the second on.
func placeholders(first, count int) string {
	marks := make([]string, count)
	for i := range marks {
		marks[i] = "$" + strconv.Itoa(first+i)
	}
	return strings.Join(marks, ", ")
}
