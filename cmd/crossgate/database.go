package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"crossgate/config"
	"crossgate/gateway"
	"crossgate/store"
)

// located returns an action on the database of the configuration that its command line selects.
func located(flags *pflag.FlagSet, do func(ctx context.Context, at store.Location, out io.Writer) error) action {
	return configured(flags, func(ctx context.Context, c config.Config, out, _ io.Writer) error {
		return do(ctx, gateway.Database(c), out)
	})
}

func backupIndex(flags *pflag.FlagSet) action {
	file := flags.String("file", "", "`FILE` to write, which must not exist")
	keep := flags.Int("keep", 0, "`NUMBER` of backups to keep, with the time in their names; older ones are removed. 0: one backup, without the time")
	return located(flags, func(ctx context.Context, at store.Location, out io.Writer) error {
		if *file == "" {
			return errNoFile
		}
		if *keep < 0 {
			return wrongUsage("--keep %d: want the number of backups to keep", *keep)
		}
		to := *file
		if *keep > 0 {
			to = dated(to, time.Now())
		}
		err := at.Backup(ctx, to)
		if err == nil && *keep > 0 {
			err = prune(*file, *keep)
		}
		if err == nil {
			fmt.Fprintln(out, "backup written:", to)
		}
		return err
	})
}

func restoreIndex(flags *pflag.FlagSet) action {
	file := flags.String("file", "", "`FILE` written by index backup")
	return located(flags, func(ctx context.Context, at store.Location, out io.Writer) error {
		if *file == "" {
			return errNoFile
		}
		err := at.Restore(ctx, *file)
		if err == nil {
			fmt.Fprintln(out, "restored into", at)
		}
		return err
	})
}

var errNoFile = wrongUsage("--file is missing")

// stamp is the time format of backup names, chosen so that names sort by time.
const stamp = "-20060102T150405Z"

func dated(file string, at time.Time) string {
	extension := filepath.Ext(file)
	return strings.TrimSuffix(file, extension) + at.UTC().Format(stamp) + extension
}

// prune removes all but the newest keep backups with names from dated.
func prune(file string, keep int) error {
	folder, name := filepath.Dir(file), filepath.Base(file)
	extension := filepath.Ext(name)
	entries, err := os.ReadDir(folder)
	backups := slices.DeleteFunc(entries, func(e os.DirEntry) bool {
		text := strings.TrimPrefix(e.Name(), strings.TrimSuffix(name, extension))
		at, err := time.Parse(stamp, strings.TrimSuffix(text, extension))
		return err != nil || dated(name, at) != e.Name()
	})
	for _, old := range backups[:max(0, len(backups)-keep)] {
		err = errors.Join(err, os.Remove(filepath.Join(folder, old.Name())))
	}
	return err
}
