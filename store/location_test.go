package store

import (
	"path/filepath"
	"strings"
	"testing"
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
		for name, try := range map[string]func() error{
			"Inspect":      func() error { return l.Inspect(t.Context()) },
			"Backup":       func() error { return l.Backup(t.Context(), filepath.Join(t.TempDir(), "backup.db")) },
			"OpenPostgres": func() error { _, err := OpenPostgres(t.Context(), address, PostgresOptions{}); return err },
		} {
			if got := text(try()); !strings.Contains(got, want) || strings.Contains(got, "canary") {
				t.Errorf("%s of %q = %q, want %q in it", name, address, got, want)
			}
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
