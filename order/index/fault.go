package index

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// remedies say what to do about what SQLite refuses (sqlite.org/rescode.html, primary codes).
var remedies = map[int]string{
	sqlite3.SQLITE_FULL:     "the disk is full: free some space; the index goes on by itself",
	sqlite3.SQLITE_IOERR:    "the disk does not take or give data: check it and the space left on it; the index goes on by itself",
	sqlite3.SQLITE_READONLY: "the file, or its directory, must not be written: give the gateway's user the right to, or name another path",
	sqlite3.SQLITE_PERM:     "the file must not be used: give the gateway's user the right to, or name another path",
	sqlite3.SQLITE_CANTOPEN: "the file cannot be opened: check that its directory exists and the gateway's user may write there",
	sqlite3.SQLITE_NOTADB:   "the file is no database and is left as it is: name another path",
	sqlite3.SQLITE_CORRUPT: "the file is damaged and is left as it is: move it away, or put a copy back; " +
		"without one the index reads the chains again",
	sqlite3.SQLITE_BUSY: "another process keeps the file locked: one gateway to a file, several share a PostgreSQL",
}

// explain adds to a database's error what to do about it.
func explain(err error) error {
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
