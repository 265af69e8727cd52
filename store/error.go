package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// remedies say what to do about errors of SQLite (sqlite.org/rescode.html, primary codes), serverRemedies about those
// of PostgreSQL (postgresql.org/docs/current/errcodes-appendix.html).
var remedies = map[int]string{
	sqlite3.SQLITE_FULL:     "the disk is full: free some space; the index resumes by itself",
	sqlite3.SQLITE_IOERR:    "disk error: check the disk and its free space; the index resumes by itself",
	sqlite3.SQLITE_READONLY: "file or directory not writable: grant the gateway's user write access, or set another path",
	sqlite3.SQLITE_PERM:     "the file is not accessible: grant the gateway's user access, or set another path",
	sqlite3.SQLITE_CANTOPEN: "cannot open the file: check that its directory exists and the gateway's user may write there",
	sqlite3.SQLITE_NOTADB:   "the file is not a database and is left as it is: set another path",
	sqlite3.SQLITE_CORRUPT: "the file is damaged and is left as it is: move it away, or restore a copy; " +
		"without one the index reads the chains again",
	sqlite3.SQLITE_BUSY: "another process keeps the file locked: one gateway per file, several share a PostgreSQL",
}

var serverRemedies = map[string]string{
	"25006": readOnlyServer,
	"53100": "the server's disk is full: free some space; the index resumes by itself",
	"42501": "the database refuses its user: grant it all privileges on the tables",
}

const readOnlyServer = "the database is read-only: set index.postgres to the primary if this is a standby, or else let it take writes"

// withRemedy adds to a database error what to do about it, if that is known.
func withRemedy(err error) error {
	remedy, known := remedies[primaryCode(err)]
	if server, is := errors.AsType[*pgconn.PgError](err); is {
		remedy, known = serverRemedies[server.Code]
	}
	if !known {
		return inOneLine(err)
	}
	return fmt.Errorf("%s (%w)", remedy, err)
}

// primaryCode returns the result code of an SQLite error, 0 for other errors. Extended codes hold it in the low byte.
func primaryCode(err error) int {
	refused, is := errors.AsType[*sqlite.Error](err)
	if !is {
		return sqlite3.SQLITE_OK
	}
	const primary = 0xff
	return refused.Code() & primary
}

// isBusy reports whether another process kept the file locked for too long.
func isBusy(err error) bool { return primaryCode(err) == sqlite3.SQLITE_BUSY }

// inOneLine puts the reasons of a failed connection on one line, each only once. pgx has a line per attempt, and makes
// two attempts per address if the URL does not say whether to use TLS (sslmode).
func inOneLine(err error) error {
	if errors.As(err, new(*pgconn.ConnectError)) {
		return oneLine{err}
	}
	return err
}

type oneLine struct{ error }

func (e oneLine) Unwrap() error { return e.error }

func (e oneLine) Error() string {
	first, rest, _ := strings.Cut(e.error.Error(), "\n")
	var attempts []string
	for line := range strings.Lines(rest) {
		if line = strings.TrimSpace(line); !slices.Contains(attempts, line) {
			attempts = append(attempts, line)
		}
	}
	return strings.TrimSpace(first + " " + strings.Join(attempts, "; "))
}

// Failure is the latest failure of repeated attempts, so that it is not logged each time. The zero value is none. It is
// safe for concurrent use.
type Failure struct {
	mu     sync.Mutex
	logged time.Time // zero after a success was logged, which was at ended
	failed time.Time
	ended  time.Time
}

// Log logs an outcome: a failure as failed, once in a quarter of an hour, and the success after it as again. The second
// such success in that time must be a minute later than the last failure: on a full disk, small changes now and then
// succeed. The store itself logs that the database does not answer. An end of ctx is neither.
func (f *Failure) Log(ctx context.Context, to *slog.Logger, err error, failed, again string, args ...any) {
	const reminder, calm = 15 * time.Minute, time.Minute
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	switch {
	case err != nil && ctx.Err() != nil:
	case err != nil:
		f.failed = now
		if !errors.Is(err, ErrUnavailable) && now.Sub(f.logged) >= reminder {
			f.logged = now
			to.WarnContext(ctx, failed, append(args, "error", err)...)
		}
	case !f.logged.IsZero() && (now.Sub(f.ended) >= reminder || now.Sub(f.failed) >= calm):
		f.logged, f.ended = time.Time{}, now
		to.InfoContext(ctx, again)
	}
}
