package store

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// remedies say what to do about SQLite's errors (sqlite.org/rescode.html, primary codes).
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

// withRemedy adds to a database's error what to do about it.
func withRemedy(err error) error {
	remedy, known := remedies[primaryCode(err)]
	if !known {
		return err
	}
	return fmt.Errorf("%s (%w)", remedy, err)
}

// primaryCode is the result code of SQLite's error, 0 for another one. Extended codes hold it in their low byte.
func primaryCode(err error) int {
	refused, is := errors.AsType[*sqlite.Error](err)
	if !is {
		return sqlite3.SQLITE_OK
	}
	const primary = 0xff
	return refused.Code() & primary
}

// isBusy reports whether another process kept the file locked.
func isBusy(err error) bool { return primaryCode(err) == sqlite3.SQLITE_BUSY }
