package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var migrations embed.FS

// listTables lists the tables of a database, by dialect.
var listTables = map[goose.Dialect]string{
	goose.DialectSQLite3:  `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`,
	goose.DialectPostgres: `SELECT tablename FROM pg_tables WHERE schemaname = current_schema()`,
}

// clustered inserts the words that store a table in its primary key's index, which PostgreSQL cannot do.
var clustered = map[goose.Dialect]*strings.Replacer{
	goose.DialectSQLite3:  strings.NewReplacer("/* clustered */", "WITHOUT ROWID", "/* clusters */", "PRIMARY KEY"),
	goose.DialectPostgres: strings.NewReplacer(),
}

// migrate brings the schema up to date, unless it is newer. Two processes may open a new file at the same time, and
// SQLite has no lock across several migrations: a process that finds one already applied continues from there.
func migrate(ctx context.Context, db *sql.DB, dialect goose.Dialect, options ...goose.ProviderOption) error {
	version, err := inspect(ctx, db, dialect)
	if err != nil {
		return err
	}
	provider, err := newProvider(db, dialect, options...)
	if err != nil || version > newest() {
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

// newest returns the schema version that this program migrates a database to.
func newest() int64 {
	files, _ := fs.Glob(migrations, "migrations/*.sql") // embedded, so this cannot fail
	version, _ := goose.NumericComponent(files[len(files)-1])
	return version
}

func newProvider(db *sql.DB, dialect goose.Dialect, options ...goose.ProviderOption) (*goose.Provider, error) {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	var steps []*goose.Migration
	for _, file := range files {
		version, err := goose.NumericComponent(file)
		if err != nil {
			return nil, err
		}
		steps = append(steps, goose.NewGoMigration(version, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
			text, err := migrations.ReadFile(file)
			if err != nil {
				return err
			}
			_, err = tx.ExecContext(ctx, clustered[dialect].Replace(string(text)))
			return err
		}}, nil))
	}
	return goose.NewProvider(dialect, db, nil, append(options, goose.WithGoMigrations(steps...))...)
}

// inspect returns a database's schema version, 0 if it is empty. Without writing anything, it rejects a database that
// holds another program's tables or whose schema is too new for this build.
func inspect(ctx context.Context, db *sql.DB, dialect goose.Dialect) (version int64, err error) {
	tables, err := tablesOf(ctx, db, dialect)
	if err == nil && slices.Contains(tables, goose.DefaultTablename) {
		err = db.QueryRowContext(ctx, `SELECT COALESCE(MAX(version_id), 0) FROM `+goose.DefaultTablename).Scan(&version)
	}
	others := slices.DeleteFunc(tables, func(name string) bool { return name == goose.DefaultTablename })
	switch {
	case err != nil || len(others) == 0: // another process may be migrating it
		return version, err
	case !slices.Contains(others, "compatibility"): // every version of the schema has it
		return 0, fmt.Errorf("it holds a table %q of another program: set another path or database for the index", others[0])
	case version == 0:
		return 0, errors.New("it holds tables but not the version of their schema (" + goose.DefaultTablename +
			"): restore a whole backup, or set another path or database for the index")
	case version <= newest():
		return version, nil
	}
	oldest, err := oldestOf(ctx, db)
	if err == nil && oldest > newest() {
		err = &newerSchema{version, newest()}
	}
	return version, err
}

// newerSchema is the error for a schema too new for this program.
type newerSchema struct{ version, known int64 }

func (n *newerSchema) Error() string {
	return fmt.Sprintf("its schema is version %d, which this build cannot use (its own is %d): run the newer crossgate, "+
		"or restore a backup from before the upgrade", n.version, n.known)
}

// tablesOf returns the names of a database's tables.
func tablesOf(ctx context.Context, q querier, dialect goose.Dialect) (names []string, err error) {
	err = forEachRow(ctx, q, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		names = append(names, name)
		return err
	}, listTables[dialect], nil)
	return names, err
}
