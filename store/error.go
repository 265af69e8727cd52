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
	var refused *sqlite.Error
	if !errors.As(err, &refused) {
		return err
	}
	const primary = 0xff // extended codes hold the primary one in their low byte
	remedy, known := remedies[refused.Code()&primary]
	if !known {
		return err
	}
	return fmt.Errorf("%s (%w)", remedy, err)
}
