package store

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

// listTables lists the tables of a database, in each dialect.
var listTables = map[goose.Dialect]string{
	goose.DialectSQLite3:  `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`,
	goose.DialectPostgres: `SELECT tablename FROM pg_tables WHERE schemaname = current_schema()`,
}

// migrate brings the schema up to date. Two processes may open a new file at once, and SQLite has no lock that spans
// several migrations: whoever finds one applied meanwhile continues from there.
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

// inspect refuses, without writing anything, a database that holds another program's tables or whose schema is newer
// than this build's.
func inspect(ctx context.Context, db *sql.DB, dialect goose.Dialect) error {
	isOurs, foreign := false, ""
	err := forEachRow(ctx, db, func(rows *sql.Rows) error {
		var name string
		if err := rows.Scan(&name); err != nil {
			return err
		}
		if name == goose.DefaultTablename {
			isOurs = true
		} else {
			foreign = name
		}
		return nil
	}, listTables[dialect], nil)
	switch {
	case err != nil:
		return err
	case !isOurs && foreign != "":
		return fmt.Errorf("it holds a table %q of another program: set another path or database for the index", foreign)
	case !isOurs:
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
		return fmt.Errorf("its schema is version %d, newer than this build's %d: run the newer crossgate, "+
			"or set another path or database and let the index read the chains again", version, newest)
	}
	return nil
}
