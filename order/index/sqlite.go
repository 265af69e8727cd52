package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"

	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // the driver "sqlite"
)

// FileMemory is what a store in a file takes at most where Go's garbage collector does not see it, bytes: pages of the
// writing connection and of each reading one, and what statements sort and remember until they end.
const FileMemory = (1+fileReaders)*filePages + 32<<20

const (
	fileReaders = 4
	filePages   = 8 << 20 // of each connection; most of the file is read by mapping it
)

// Open opens the store in the SQLite file at path and brings its schema up to date, or begins an empty one.
// One connection writes, others read beside it. What was written by a newer version, or by something else,
// is refused and left as it is.
func Open(ctx context.Context, path string) (*Store, error) {
	if err := inspectFile(ctx, path); err != nil {
		return nil, fmt.Errorf("open order index %s: %w", path, explain(err))
	}
	writer, err := openFile(path, 1, writing)
	if err != nil {
		return nil, fmt.Errorf("open order index %s: %w", path, err)
	}
	if err := migrate(ctx, writer, goose.DialectSQLite3); err != nil {
		return nil, errors.Join(fmt.Errorf("prepare order index %s: %w", path, explain(err)), writer.Close())
	}
	reader, err := openFile(path, fileReaders, writing)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open order index %s: %w", path, err), writer.Close())
	}
	return &Store{name: path, reader: reader, writer: writer}, nil
}

// inspectFile looks into a file, if there is one, without changing it.
func inspectFile(ctx context.Context, path string) error {
	if facts, err := os.Stat(path); err != nil || facts.Size() == 0 {
		return nil //nolint:nilerr // creating it will tell what is wrong
	}
	db, err := openFile(path, 1, url.Values{"mode": {"ro"}, "_pragma": {busyTimeout}})
	if err != nil {
		return err
	}
	return errors.Join(inspect(ctx, db, goose.DialectSQLite3), db.Close())
}

// busyTimeout is how long another process that writes, a backfill for instance, is waited for.
const busyTimeout = "busy_timeout(30000)"

// writing uses the write-ahead log, so that readers and the writer do not wait for each other. A power
// failure can lose the newest commits, which are whole ranges of a chain and are read again.
var writing = url.Values{
	"_pragma": {
		busyTimeout, "journal_mode(WAL)", "synchronous(NORMAL)", "journal_size_limit(67108864)",
		fmt.Sprintf("cache_size(-%d)", filePages>>10), "mmap_size(1073741824)", "temp_store(MEMORY)",
	},
	"_txlock": {"immediate"},
}

func openFile(path string, connections int, options url.Values) (*sql.DB, error) {
	name := url.URL{Scheme: "file", Opaque: url.PathEscape(path), RawQuery: options.Encode()}
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}
