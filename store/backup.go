package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// errOwnTools keeps two ways from doing the same: a PostgreSQL has tools of its own.
var errOwnTools = errors.New("PostgreSQL is backed up by pg_dump and restored by pg_restore; this is for SQLite files")

// checksumSuffix names the file beside a backup that has its checksum, as sha256sum writes and reads it.
const checksumSuffix = ".sha256"

// Backup copies an SQLite database as it is at one moment into a new file, while a gateway uses it, and writes the
// file's checksum beside it.
func (l Location) Backup(ctx context.Context, file string) error {
	if l.Postgres != "" {
		return errOwnTools
	}
	err := l.using(func(db database) error {
		version, err := inspect(ctx, db.DB, db.dialect)
		if err != nil {
			return err
		}
		if version == 0 {
			return errors.New("nothing is in it yet")
		}
		return writeNew(ctx, db, file)
	})
	if err != nil {
		return err
	}
	sum, err := sumOf(file)
	if err != nil {
		return err
	}
	return os.WriteFile(file+checksumSuffix, []byte(sum+"  "+filepath.Base(file)+"\n"), 0o644)
}

// Restore makes an SQLite file, which must not exist yet, of a backup. A damaged backup is refused, as is one that
// differs from the checksum beside it, if there is one.
func (l Location) Restore(ctx context.Context, file string) error {
	if l.Postgres != "" {
		return errOwnTools
	}
	err := verifyChecksum(file)
	if err != nil {
		return fmt.Errorf("backup %s: %w", file, err)
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

// writeNew copies a database into a new file beside its place and moves it there: an interrupted copy is never taken
// for a whole one.
func writeNew(ctx context.Context, db database, path string) error {
	if facts, err := os.Stat(path); err == nil && facts.Size() > 0 {
		return fmt.Errorf("%s exists and is left as it is: name another file, or move it away", path)
	}
	if facts, err := os.Stat(filepath.Dir(path)); err != nil || !facts.IsDir() {
		return fmt.Errorf("%s: its directory does not exist", path)
	}
	part := path + ".part"
	if err := os.RemoveAll(part); err != nil { // what an interrupted one has left
		return err
	}
	if _, err := db.ExecContext(ctx, `VACUUM INTO $1`, part); err != nil {
		return errors.Join(err, os.RemoveAll(part))
	}
	return os.Rename(part, path)
}

func verifyChecksum(file string) error {
	line, err := os.ReadFile(file + checksumSuffix)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	want, _, _ := strings.Cut(string(line), " ")
	got, err := sumOf(file)
	if err == nil && !strings.EqualFold(got, strings.TrimSpace(want)) {
		err = fmt.Errorf("it is damaged: its checksum is not that of %s; restore another copy", filepath.Base(file)+checksumSuffix)
	}
	return err
}

func sumOf(file string) (sum string, err error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
