package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"crossgate/gateway"
	"crossgate/store"
)

// located declares the flag of a command on the database, and returns a function that locates it.
func located(flags *pflag.FlagSet) func() (store.Location, error) {
	file := configFlag(flags)
	return func() (store.Location, error) {
		c, err := load(*file)
		return gateway.Database(c), err
	}
}

// backupIndex copies the database into a file.
func backupIndex(flags *pflag.FlagSet) action {
	locate := located(flags)
	file := flags.String("file", "", "`FILE` to write, which must not exist")
	keep := flags.Int("keep", 0, "`NUMBER` of backups that stay: their names have the time, and older ones are removed; one without the time when 0")
	return func(ctx context.Context, out, _ io.Writer) error {
		at, err := locate()
		if err != nil {
			return err
		}
		if *file == "" {
			return errNoFile
		}
		to := *file
		if *keep > 0 {
			to = dated(to, time.Now())
		}
		if err = at.Backup(ctx, to); err == nil && *keep > 0 {
			err = prune(*file, *keep)
		}
		if err == nil {
			fmt.Fprintln(out, "backup written:", to)
		}
		return err
	}
}

// restoreIndex makes the database of a backup.
func restoreIndex(flags *pflag.FlagSet) action {
	locate := located(flags)
	file := flags.String("file", "", "`FILE` that index backup has written")
	return func(ctx context.Context, out, _ io.Writer) error {
		at, err := locate()
		if err != nil {
			return err
		}
		if *file == "" {
			return errNoFile
		}
		if err = at.Restore(ctx, *file); err == nil {
			fmt.Fprintln(out, "restored into", at)
		}
		return err
	}
}

var errNoFile = wrongUsage("--file is missing")

// dated is a backup's file with the time in its name, so that names sort as times do.
func dated(file string, at time.Time) string {
	extension := filepath.Ext(file)
	return strings.TrimSuffix(file, extension) + at.UTC().Format("-20060102T150405Z") + extension
}

// prune removes all but the newest backups that dated has named.
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
	}
	return nil
}
