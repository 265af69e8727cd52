package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"crossgate/chain"
)

// Location identifies a database, for work on it besides that of gateways.
type Location struct {
	Postgres string // postgres://user:password@host/name; empty: SQLite
	Path     string // of the SQLite file
}

// String returns a name of the database without its URL, which contains a password.
func (l Location) String() string {
	if l.Postgres != "" {
		return "PostgreSQL"
	}
	return l.Path
}

// Check returns why a PostgreSQL URL cannot be used, without connecting.
func (l Location) Check() error {
	if l.Postgres == "" {
		return nil
	}
	_, err := parsePostgres(l.Postgres)
	return err
}

// parsePostgres parses a PostgreSQL URL and reads the certificate files that it refers to. Its error does not wrap the
// cause, which quotes the URL and thus the password.
func parsePostgres(url string) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(url)
	if file, is := errors.AsType[*fs.PathError](err); is {
		return nil, fmt.Errorf("PostgreSQL URL: a file that it names: %w", file.Err)
	}
	if err != nil {
		return nil, errors.New("malformed PostgreSQL URL: want postgres://user:password@host:5432/database, with characters " +
			"of the password other than letters and digits percent-encoded")
	}
	return config, nil
}

// database is used as it is, whatever its schema version.
type database struct {
	*sql.DB
	dialect goose.Dialect
}

// open opens the database without changing it. A file must exist.
func (l Location) open() (database, error) {
	if l.Postgres != "" {
		config, err := parsePostgres(l.Postgres)
		if err != nil {
			return database{}, err
		}
		setSession(config)
		return database{limited(stdlib.OpenDB(*config), 2), goose.DialectPostgres}, nil
	}
	if _, err := os.Stat(l.Path); err != nil {
		return database{}, errors.New("the file does not exist")
	}
	db, err := openFile(l.Path, 1, url.Values{"_pragma": {busyTimeout(busyLimit), mapped}, "mode": {"rw"}})
	return database{db, goose.DialectSQLite3}, err
}

// using opens the database for the duration of work.
func (l Location) using(work func(database) error) error {
	db, err := l.open()
	if err == nil {
		err = errors.Join(work(db), db.Close())
	}
	if err != nil {
		return fmt.Errorf("database %s: %w", l, withRemedy(err))
	}
	return nil
}

// Inspect returns why the database cannot be used, without changing it: it is of a newer version or another program; a
// PostgreSQL does not answer, rejects the user, is read-only or is behind a transaction-mode pooler; or a file has no
// directory. Errors contain no password.
func (l Location) Inspect(ctx context.Context) error {
	if l.Postgres == "" {
		if facts, err := os.Stat(filepath.Dir(l.Path)); err != nil || !facts.IsDir() {
			return fmt.Errorf("database %s: its directory does not exist", l.Path)
		}
		return inspectFile(ctx, l.Path)
	}
	return l.using(func(db database) error {
		if err := checkSessions(ctx, db.DB); err != nil {
			return err
		}
		if _, err := inspect(ctx, db.DB, db.dialect); err != nil {
			return err
		}
		return checkWritable(ctx, db.DB)
	})
}

// Schema describes which programs can open a database.
type Schema struct {
	Version int64 // of the database; 0: it is empty
	Oldest  int64 // oldest schema version whose programs can use the database
	Known   int64 // newest version known to this program, to which it migrates older ones
}

// IsUsable reports whether this program can open the database.
func (s Schema) IsUsable() bool { return s.Oldest <= s.Known }

// Schema returns the database's schema versions, without changing it. A database of another program is an error.
func (l Location) Schema(ctx context.Context) (s Schema, err error) {
	err = l.using(func(db database) error {
		s.Known = newest()
		s.Version, err = inspect(ctx, db.DB, db.dialect)
		if _, isNewer := errors.AsType[*newerSchema](err); err != nil && !isNewer || s.Version == 0 {
			return err
		}
		s.Oldest, err = oldestOf(ctx, db.DB)
		return err
	})
	return s, err
}

// oldestOf returns the oldest schema version whose programs can use a database.
func oldestOf(ctx context.Context, db *sql.DB) (oldest int64, err error) {
	err = db.QueryRowContext(ctx, `SELECT MAX(oldest) FROM compatibility`).Scan(&oldest)
	return oldest, err
}

// Anchor is a block known to belong to its chain.
type Anchor struct {
	Number uint64
	Hash   chain.Hash
}

// Anchors returns the newest anchor of each chain, without changing anything; none if the table does not exist.
func (l Location) Anchors(ctx context.Context) (newest map[chain.ID]Anchor, err error) {
	newest = make(map[chain.ID]Anchor)
	err = l.using(func(db database) error {
		tables, err := tablesOf(ctx, db, db.dialect)
		if err != nil || !slices.Contains(tables, "anchors") {
			return err
		}
		return forEachRow(ctx, db, func(rows *sql.Rows) error {
			var id chain.ID
			var a Anchor
			err := rows.Scan(&id, &a.Number, HashColumn(&a.Hash))
			newest[id] = a
			return err
		}, `SELECT chain, number, hash FROM anchors a WHERE number = (SELECT MAX(number) FROM anchors WHERE chain = a.chain)`, nil)
	})
	return newest, err
}
