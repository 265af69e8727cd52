package store

import (
	"context"
	"os"
	"sync"
	"time"
)

// size is how much a database takes, in bytes. data is 0 while that is not known.
type size struct {
	data, log int64
	hasLog    bool // the size of the write-ahead log is known
}

// lastSize is what a PostgreSQL told of its size last. Whoever collects measurements asks, at most once in
// sizeInterval.
type lastSize struct {
	mu    sync.Mutex
	asked time.Time
	size  size
}

const (
	sizeInterval = time.Minute
	sizeLimit    = time.Second // for a PostgreSQL to tell
)

// size returns how much the database takes: of an SQLite file at this moment, of a PostgreSQL within the last minute.
func (db *DB) size(ctx context.Context, now time.Time) size {
	if !db.IsReplicated() {
		return fileSize(db.name)
	}
	last := db.lastSize
	last.mu.Lock()
	defer last.mu.Unlock()
	if now.Sub(last.asked) >= sizeInterval {
		last.asked, last.size = now, db.serverSize(ctx)
	}
	return last.size
}

// fileSize is that of an SQLite file and of the log beside it.
func fileSize(path string) (s size) {
	if facts, err := os.Stat(path); err == nil {
		s.data = facts.Size()
	}
	s.hasLog = s.data > 0
	if facts, err := os.Stat(path + "-wal"); err == nil {
		s.log = facts.Size()
	}
	return s
}

// serverSize asks a PostgreSQL. Its log is that of the whole server, and shown to members of pg_monitor.
func (db *DB) serverSize(ctx context.Context) (s size) {
	ctx, cancel := context.WithTimeout(ctx, sizeLimit)
	defer cancel()
	_ = db.availability.do(ctx, func() error {
		row := db.reader.QueryRowContext(ctx, `SELECT pg_database_size(current_database()),
			has_function_privilege('pg_ls_waldir()', 'EXECUTE')`)
		if err := row.Scan(&s.data, &s.hasLog); err != nil || !s.hasLog {
			return err
		}
		err := db.reader.QueryRowContext(ctx, `SELECT CAST(COALESCE(SUM(size), 0) AS BIGINT) FROM pg_ls_waldir()`).Scan(&s.log)
		s.hasLog = err == nil
		return err
	}) // while it does not tell, nothing is known
	return s
}
