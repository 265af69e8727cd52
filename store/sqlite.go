package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // registers the driver "sqlite"
)

// FileMemory is the maximum memory in bytes that an SQLite database uses outside of Go's heap: the page caches of the
// writing and reading connections, and what statements sort and hold while they run. Probes read only two pages.
const FileMemory = (1+fileReaders)*filePages + 32<<20

const (
	fileReaders = 4
	filePages   = 8 << 20 // of each connection; most of the file is read through mmap
)

// OpenSQLite opens or creates the SQLite file at path and brings its schema up to date. One connection writes while
// others read. It rejects a file that a newer version or another program wrote, without changing it.
func OpenSQLite(ctx context.Context, path string) (*DB, error) {
	if err := inspectFile(ctx, path); err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, withRemedy(err))
	}
	createPrivate(path)
	writer, err := openFile(path, 1, fileOptions(lockWait))
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	if err := untilFree(ctx, func() error { return migrate(ctx, writer, goose.DialectSQLite3) }); err != nil {
		return nil, errors.Join(fmt.Errorf("migrate database %s: %w", path, withRemedy(err)), writer.Close())
	}
	reader, err := openFile(path, fileReaders, fileOptions(readLimit))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open database %s: %w", path, err), writer.Close())
	}
	prober, err := openFile(path, 1, fileOptions(probeLimit))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open database %s: %w", path, err), writer.Close(), reader.Close())
	}
	a := newAvailability(prober, nil)
	a.hasTables = true
	db := &DB{name: path, reader: reader, writer: writer, availability: a, writes: new(writeState), telemetry: newTelemetry("sqlite")}
	return db.measured()
}

// Own makes this process the only gateway of an SQLite file until Close, or until the process ends: leases are always
// granted there, so that a second one would follow the same chains. Commands beside a gateway do not call it. It locks
// a file of its own, since an flock(2) on the database would exclude SQLite itself on macOS and on NFS. A file system
// without locks is logged, and then nothing is excluded; so are outages. Call it before the database is used. Any
// number of gateways own a PostgreSQL.
func (db *DB) Own(ctx context.Context, log *slog.Logger) error {
	if db.IsReplicated() {
		return nil
	}
	db.availability.log = log
	path, err := filepath.EvalSymlinks(db.name) // as SQLite does for its own files
	if err == nil {
		db.owned, err = os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	}
	if err == nil {
		err = syscall.Flock(int(db.owned.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return fmt.Errorf("database %s: another gateway uses it: stop that one first, or set index.postgres for several", db.name)
	}
	if err != nil {
		log.WarnContext(ctx, "database cannot be locked: make sure that no other gateway uses it", "database", db.name, "error", err)
	}
	return nil
}

// createPrivate creates an empty file that only this user can read, unless it exists: secrets of webhooks are stored in
// it. SQLite gives its log the same permissions, and reports why it cannot open a file.
func createPrivate(path string) {
	if created, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600); err == nil {
		_ = created.Close()
	}
}

// untilFree repeats work while another process locks the file, until ctx ends or busyLimit has passed. SQLite itself
// waits whatever ctx says, so it may wait only for lockWait, and does not wait at all when a connection enables the
// write-ahead log in a new file, since that change begins as a read.
func untilFree(ctx context.Context, work func() error) error {
	for began := time.Now(); ; {
		err := work()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case !isBusy(err) || time.Since(began) > busyLimit:
			return err
		}
		pause(ctx, 10*time.Millisecond)
	}
}

// inspectFile inspects a file, if it exists, without changing it.
func inspectFile(ctx context.Context, path string) error {
	if facts, err := os.Stat(path); err != nil || facts.Size() == 0 {
		return nil //nolint:nilerr // creating the file reports what is wrong
	}
	db, err := openFile(path, 1, url.Values{"mode": {"ro"}, "_pragma": {busyTimeout(lockWait)}})
	if err != nil {
		return err
	}
	err = untilFree(ctx, func() error {
		_, err := inspect(ctx, db, goose.DialectSQLite3)
		return err
	})
	return errors.Join(err, db.Close())
}

const (
	// busyLimit is how long to wait for another process that writes, such as a backfill.
	busyLimit = 30 * time.Second
	// lockWait is how long SQLite waits at a time, whatever the caller's limit.
	lockWait = 100 * time.Millisecond
	// readLimit is how long readers wait; only a process that has locked the whole file keeps them waiting.
	readLimit = time.Second
)

func busyTimeout(limit time.Duration) string {
	return fmt.Sprintf("busy_timeout(%d)", limit.Milliseconds())
}

// fileOptions enables the write-ahead log, so that readers and the writer do not wait for each other. A power failure
// can lose the newest commits; these are whole ranges of a chain and are read again. The log is checkpointed at 32 MiB,
// so that index pages, which change again and again, are copied back only once.
func fileOptions(busy time.Duration) url.Values {
	return url.Values{
		"_pragma": {
			busyTimeout(busy), "journal_mode(WAL)", "synchronous(NORMAL)", "journal_size_limit(67108864)", "wal_autocheckpoint(8192)",
			fmt.Sprintf("cache_size(-%d)", filePages>>10), mapped, "temp_store(MEMORY)",
		},
		"_txlock": {"immediate"},
	}
}

func openFile(path string, connections int, options url.Values) (*sql.DB, error) {
	if facts, err := os.Stat(path); err == nil && facts.IsDir() {
		return nil, errors.New("it is a directory: name a file in it")
	}
	name := url.URL{Scheme: "file", Opaque: url.PathEscape(path), RawQuery: options.Encode()}
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		return nil, err
	}
	return limited(db, connections), nil
}

// mapped is how much of a file is read through a memory map.
const mapped = "mmap_size(1073741824)"

// limited keeps up to the given number of connections open.
func limited(db *sql.DB, connections int) *sql.DB {
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db
}
