package index

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var migrations embed.FS

// tables lists what a database holds, in each dialect.
var tables = map[goose.Dialect]string{
	goose.DialectSQLite3:  `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`,
	goose.DialectPostgres: `SELECT tablename FROM pg_tables WHERE schemaname = current_schema()`,
}

// migrate brings the schema up to date. Two processes may open a new file at once, and SQLite has no lock
// that spans several steps: whoever finds a step done meanwhile goes on from there.
func migrate(ctx context.Context, db *sql.DB, dialect goose.Dialect, options ...goose.ProviderOption) error {
	provider, err := newProvider(db, dialect, options...)
	if err != nil {
		return err
	}
	before := int64(-1)
	for {
		_, failed := provider.Up(ctx)
		if failed == nil {
			return nil
		}
		version, err := provider.GetDBVersion(ctx)
		if err != nil || version == before {
			return failed
		}
		before = version
	}
}

func newProvider(db *sql.DB, dialect goose.Dialect, options ...goose.ProviderOption) (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(dialect, db, files, options...)
}

// inspect refuses, without writing anything, a database in which somebody else keeps tables or whose schema a
// newer version has changed.
func inspect(ctx context.Context, db *sql.DB, dialect goose.Dialect) error {
	ours, foreign, err := tablesIn(ctx, db, dialect)
	switch {
	case err != nil:
		return err
	case !ours && foreign != "":
		return fmt.Errorf("it holds a table %q and is no order index: name another place for the index", foreign)
	case !ours:
		return nil
	}
	provider, err := newProvider(db, dialect)
	if err != nil {
		return err
	}
	sources := provider.ListSources()
	newest := sources[len(sources)-1].Version
	var version int64
	if err := db.QueryRowContext(ctx, `SELECT MAX(version_id) FROM `+goose.DefaultTablename).Scan(&version); err != nil {
		return err
	}
	if version > newest {
		return fmt.Errorf("its schema is version %d, this crossgate knows %d: run the newer crossgate, "+
			"or name another place and let it read the chains again", version, newest)
	}
	return nil
}

// tablesIn reports whether a database is ours, and names one of its other tables.
func tablesIn(ctx context.Context, db *sql.DB, dialect goose.Dialect) (ours bool, foreign string, err error) {
	rows, err := db.QueryContext(ctx, tables[dialect])
	if err != nil {
		return false, "", err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return false, "", err
		}
		if name == goose.DefaultTablename {
			ours = true
		} else {
			foreign = name
		}
	}
	return ours, foreign, rows.Err()
}
