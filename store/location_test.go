package store

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// TestPostgresURLThatCannotBeUsed tells what to mend, and neither passwords nor paths.
func TestPostgresURLThatCannotBeUsed(t *testing.T) {
	const malformed = "malformed PostgreSQL URL: want postgres://user:password@host:5432/database, with characters of the password " +
		"other than letters and digits percent-encoded"
	for address, want := range map[string]string{
		"postgres://orders:canary%zz@127.0.0.1/orders":                                                 malformed,
		"postgres://orders:can/ary@127.0.0.1/orders":                                                   malformed,
		"postgres://orders:canary@127.0.0.1:port/orders":                                               malformed,
		"postgres://orders:canary@127.0.0.1/orders?sslmode=verify-full&sslrootcert=/absent/canary.pem": "PostgreSQL URL: a file that it names: no such file or directory",
		"postgres://orders:canary@127.0.0.1/orders?sslmode=verify-full":                                "",
		"": "",
	} {
		l := Location{Postgres: address, Path: filepath.Join(t.TempDir(), "orders.db")}
		err := l.Check()
		if got := text(err); got != want {
			t.Errorf("Check of %q = %q, want %q", address, got, want)
		}
		if want == "" {
			continue
		}
		for name, open := range opening(t, l) {
			if got := text(open()); !strings.Contains(got, want) || strings.Contains(got, "canary") {
				t.Errorf("%s of %q = %q, want %q in it", name, address, got, want)
			}
		}
	}
}

// opening are ways to open a database, by name.
func opening(t *testing.T, l Location) map[string]func() error {
	return map[string]func() error{
		"Inspect":      func() error { return l.Inspect(t.Context()) },
		"Schema":       func() error { _, err := l.Schema(t.Context()); return err },
		"OpenPostgres": func() error { _, err := OpenPostgres(t.Context(), l.Postgres, PostgresOptions{}); return err },
	}
}

// TestPostgresThatCannotBeReachedIsToldInOneLine has an address without sslmode, which pgx tries with TLS and without.
func TestPostgresThatCannotBeReachedIsToldInOneLine(t *testing.T) {
	for name, open := range opening(t, Location{Postgres: "postgres://orders:canary@127.0.0.1:1/orders"}) {
		err := open()
		if said := text(err); strings.Contains(said, "\n") || strings.Count(said, "127.0.0.1:1 (127.0.0.1)") != 1 || strings.Contains(said, "canary") {
			t.Errorf("%s = %q, want one line with the address once", name, said)
		}
		if !errors.As(err, new(*pgconn.ConnectError)) {
			t.Errorf("%s = %v, want the cause in it", name, err)
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
