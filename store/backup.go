package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// errOwnTools avoids a second way to do the same: PostgreSQL has its own tools.
var errOwnTools = errors.New("PostgreSQL is backed up by pg_dump and restored by pg_restore; this is for SQLite files")

// Backup writes a consistent copy of an SQLite database to a new file, even while a gateway uses the database.
func (l Location) Backup(ctx context.Context, file string) error {
	if l.Postgres != "" {
		return errOwnTools
	}
	return l.using(func(db database) error {
		version, err := inspect(ctx, db.DB, db.dialect)
		if err == nil && version == 0 {
			err = errors.New("nothing is in it yet")
		}
		if err != nil {
			return err
		}
		return writeNew(ctx, db, file)
	})
}

// Restore creates an SQLite file, which must not exist yet, from a backup. It rejects a damaged backup.
func (l Location) Restore(ctx context.Context, file string) error {
	if l.Postgres != "" {
		return errOwnTools
	}
	return Location{Path: file}.using(func(backup database) error {
		version, err := inspect(ctx, backup.DB, backup.dialect)
		if err == nil && version == 0 {
			err = errors.New("it is empty")
		}
		var found string
		if err == nil {
			err = backup.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&found)
		}
		if err == nil && found != "ok" {
			err = errors.New("it is damaged: " + found)
		}
		if err != nil {
			return err
		}
		return writeNew(ctx, backup, l.Path)
	})
}

// writeNew copies a database to a temporary file next to its destination and then renames it: an interrupted copy is
// never mistaken for a complete one.
func writeNew(ctx context.Context, db database, path string) error {
	if facts, err := os.Lstat(path); err == nil && (facts.Size() > 0 || !facts.Mode().IsRegular()) {
		return fmt.Errorf("%s exists and is left as it is: name another file, or move it away", path)
	}
	for _, log := range []string{path + "-wal", path + "-journal"} {
		if facts, err := os.Stat(log); err == nil && facts.Size() > 0 {
			return fmt.Errorf("%s is left from an earlier file, and SQLite would add its changes to the new one: move it away too", log)
		}
	}
	if facts, err := os.Stat(filepath.Dir(path)); err != nil || !facts.IsDir() {
		return fmt.Errorf("%s: its directory does not exist", path)
	}
	part := path + ".part"
	if err := os.RemoveAll(part); err != nil { // left over from an interrupted copy
		return err
	}
	createPrivate(part)
	if _, err := db.ExecContext(ctx, `VACUUM INTO $1`, part); err != nil {
		return errors.Join(err, os.RemoveAll(part))
	}
	return os.Rename(part, path)
}
