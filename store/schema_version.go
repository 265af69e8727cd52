package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/pressly/goose/v3"
)

// Schema says which programs can open a database.
type Schema struct {
	Version int64 // that it has; 0: nothing is in it yet
	Oldest  int64 // the oldest schema version whose programs can use it
	Known   int64 // the newest that this program knows, to which it migrates an older one
}

// IsUsable reports whether this program can open the database.
func (s Schema) IsUsable() bool { return s.Oldest <= s.Known }

// Schema reads what the database says of its schema, and changes nothing. A database of another program is an error.
func (l Location) Schema(ctx context.Context) (s Schema, err error) {
	err = l.using(func(db database) error {
		provider, err := newProvider(db.DB, db.dialect)
		if err != nil {
			return err
		}
		s.Known = newestOf(provider)
		s.Version, err = inspect(ctx, db.DB, db.dialect)
		if _, isNewer := errors.AsType[*newerSchema](err); err != nil && !isNewer || s.Version == 0 {
			return err
		}
		s.Oldest, err = oldestOf(ctx, db.DB, db.dialect, s.Version)
		return err
	})
	return s, err
}

// oldestOf is the oldest schema version whose programs can use a database of a version; that version itself where
// nothing is noted.
func oldestOf(ctx context.Context, db querier, dialect goose.Dialect, version int64) (oldest int64, err error) {
	tables, err := tablesOf(ctx, db, dialect)
	if err != nil || !slices.Contains(tables, "compatibility") {
		return version, err
	}
	err = forEachRow(ctx, db, func(rows *sql.Rows) error { return rows.Scan(&oldest) }, `SELECT MAX(oldest) FROM compatibility`, nil)
	return oldest, err
}
