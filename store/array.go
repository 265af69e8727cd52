package store

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A list is one argument of a query, []int64 or [][]byte, used as column = ANY($1), so that the query text does not
// depend on its length. SQLite has no arrays: there the list is passed as JSON and read as a table.

// withoutArrays is a runner for SQLite.
type withoutArrays struct{ runner }

func (r withoutArrays) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	query, args = listsAsJSON(query, args)
	return r.runner.QueryContext(ctx, query, args...)
}

func (r withoutArrays) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	query, args = listsAsJSON(query, args)
	return r.runner.QueryRowContext(ctx, query, args...)
}

var anyOf = regexp.MustCompile(`= ANY\(\$\d+\)`)

func listsAsJSON(query string, args []any) (string, []any) {
	if !strings.Contains(query, "= ANY(") {
		return query, args
	}
	spelled := slices.Clone(args)
	query = anyOf.ReplaceAllStringFunc(query, func(condition string) string {
		number, _ := strconv.Atoi(strings.Trim(condition, "= ANY($)")) // only digits, so this cannot fail
		value, list := "value", args[number-1]
		if raw, is := list.([][]byte); is {
			texts := make([]string, len(raw))
			for i, each := range raw {
				texts[i] = hex.EncodeToString(each)
			}
			value, list = "unhex(value)", texts
		}
		text, _ := json.Marshal(list) // of numbers or strings, so this cannot fail
		spelled[number-1] = string(text)
		return fmt.Sprintf("IN (SELECT %s FROM json_each($%d))", value, number)
	})
	return query, spelled
}
