package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/spf13/pflag"

	"crossgate/cmd/crossgate/gateway"
	"crossgate/config"
	"crossgate/store"
)

// located declares the flag of a command on the database, and returns what tells which one the configuration names.
func located(flags *pflag.FlagSet) func() (store.Location, error) {
	file := configFlag(flags)
	return func() (store.Location, error) {
		c, err := load(*file)
		return gateway.Database(c), err
	}
}

// migrateIndex brings the database's schema to a version.
func migrateIndex(flags *pflag.FlagSet) action {
	locate := located(flags)
	to := flags.Int64("to", 0, "`VERSION` of the schema, also an earlier one; the newest that this crossgate knows when 0")
	return func(ctx context.Context, _ []string, out, _ io.Writer) error {
		at, err := locate()
		if err != nil {
			return err
		}
		before, after, err := at.Migrate(ctx, *to)
		if err != nil {
			return err
		}
		if before == after {
			fmt.Fprintf(out, "schema version %d, nothing to change\n", after)
			return nil
		}
		fmt.Fprintf(out, "schema version %d, was %d\n", after, before)
		return nil
	}
}

// backupIndex copies the database into a file.
func backupIndex(flags *pflag.FlagSet) action {
	keep := flags.Int("keep", 0, "`NUMBER` of backups that stay: their names have the time, and older ones are removed; one without the time when 0")
	return withFile(flags, "`FILE` to write, which must not exist; its checksum comes beside it",
		func(ctx context.Context, c config.Config, file string, say store.Say) (done string, err error) {
			to := file
			if *keep > 0 {
				to = dated(file, time.Now())
			}
			if err = gateway.Database(c).Backup(ctx, to, say); err == nil && *keep > 0 {
				err = prune(file, *keep)
			}
			return "backup written: " + to, err
		})
}

// restoreIndex fills an empty database from a file.
func restoreIndex(flags *pflag.FlagSet) action {
	return withFile(flags, "`FILE` that index backup has written",
		func(ctx context.Context, c config.Config, file string, say store.Say) (done string, err error) {
			at := gateway.Database(c)
			if err := at.Restore(ctx, file, say); err != nil {
				return "", err
			}
			err = gateway.CatchUp(ctx, c, slog.New(slog.DiscardHandler), func(left int) { say("%d orders left to list and count", left) })
			return "restored into " + at.String(), err
		})
}

// withFile is an action on the database and the file of --file, which must be given.
func withFile(
	flags *pflag.FlagSet, usage string, do func(context.Context, config.Config, string, store.Say) (done string, err error),
) action {
	name := configFlag(flags)
	file := flags.String("file", "", usage)
	return func(ctx context.Context, _ []string, out, errOut io.Writer) error {
		if *file == "" {
			return errNoFile
		}
		c, err := load(*name)
		if err != nil {
			return err
		}
		done, err := do(ctx, c, *file, func(format string, args ...any) { fmt.Fprintf(errOut, format+"\n", args...) })
		if err == nil {
			fmt.Fprintln(out, done)
		}
		return err
	}
}

var errNoFile = wrongUsage("--file is missing")
