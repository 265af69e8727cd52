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

	"crossgate/chain"
)

// Blob returns bytes as passed to a statement: no bytes are an empty value, never NULL.
func Blob(raw []byte) []byte {
	if raw == nil {
		return []byte{}
	}
	return raw
}

// Text returns foreign text as passed to a statement: PostgreSQL accepts neither NUL nor invalid UTF-8.
func Text(said string) string { return strings.ReplaceAll(strings.ToValidUTF8(said, "?"), "\x00", "?") }

// Number converts a number to the type that databases have, capped at 1<<62.
func Number(n uint64) int64 { return int64(min(n, 1<<62)) }

// Bit returns 1 for true, 0 for false.
func Bit(holds bool) int64 {
	if holds {
		return 1
	}
	return 0
}

// Column scans a column of bytes or text.
type Column func(raw []byte) error

func (c Column) Scan(value any) error {
	switch value := value.(type) {
	case []byte:
		return c(value)
	case string:
		return c([]byte(value))
	case nil:
		return c(nil) // SQLite's driver returns an empty value as nil
	}
	return fmt.Errorf("column holds %T, not bytes", value)
}

// HashColumn scans into a hash, which has a fixed length.
func HashColumn(into *chain.Hash) Column {
	return func(raw []byte) error {
		if len(raw) != len(into) {
			return fmt.Errorf("column holds %d bytes, not a hash", len(raw))
		}
		*into = chain.Hash(raw)
		return nil
	}
}

// prefixLength is how many bytes of an ID or hash are indexed: all of them would take six times as much space.
const prefixLength = 5

// Prefix returns the first bytes of an ID or hash, by which indexes find it. Others may share them.
func Prefix(raw []byte) []byte { return raw[:min(prefixLength, len(raw))] }

// PrefixOf returns the SQL expression for the Prefix of a column, as used in indexes.
func PrefixOf(column string) string { return fmt.Sprintf("substr(%s, 1, %d)", column, prefixLength) }

// Prefixes returns the prefixes of hashes as one argument of a statement, for = ANY.
func Prefixes(hashes []chain.Hash) [][]byte {
	prefixes := make([][]byte, len(hashes))
	for i := range hashes {
		prefixes[i] = Prefix(hashes[i][:])
	}
	return prefixes
}

// AddressColumn scans into an address.
func AddressColumn(into *chain.Address) Column {
	return func(raw []byte) error {
		*into = chain.NewAddress(raw)
		return nil
	}
}

// TxHashColumn scans into a transaction hash.
func TxHashColumn(into *chain.TxHash) Column {
	return func(raw []byte) error {
		*into = chain.NewTxHash(raw)
		return nil
	}
}

// AmountColumn scans decimal digits into an amount.
func AmountColumn(into *chain.Amount) Column {
	return func(digits []byte) (err error) {
		*into, err = chain.ParseAmount(string(digits))
		return err
	}
}

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
