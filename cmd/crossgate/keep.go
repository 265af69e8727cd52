package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// dated is a backup's file with the time in its name, so that names sort as times do.
func dated(file string, at time.Time) string {
	extension := filepath.Ext(file)
	return strings.TrimSuffix(file, extension) + at.UTC().Format("-20060102T150405Z") + extension
}

// prune removes all but the newest backups that dated has named, with their checksums.
func prune(file string, keep int) error {
	extension := filepath.Ext(file)
	backups, err := filepath.Glob(strings.TrimSuffix(file, extension) + "-????????T??????Z" + extension)
	if err != nil {
		return err
	}
	slices.Sort(backups)
	for _, old := range backups[:max(0, len(backups)-keep)] {
		if err := os.Remove(old); err != nil {
			return err
		}
		if err := os.Remove(old + ".sha256"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
