package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"crossgate/cmd/crossgate/gateway"
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
	return withFile(flags, "`FILE` to write, which must not exist", func(ctx context.Context, at store.Location, file string, out io.Writer) error {
		if err := at.Backup(ctx, file); err != nil {
			return err
		}
		fmt.Fprintln(out, "backup written:", file)
		return nil
	})
}

// restoreIndex fills an empty database from a file.
func restoreIndex(flags *pflag.FlagSet) action {
	return withFile(flags, "`FILE` that index backup has written", func(ctx context.Context, at store.Location, file string, out io.Writer) error {
		if err := at.Restore(ctx, file); err != nil {
			return err
		}
		fmt.Fprintln(out, "restored into", at)
		return nil
	})
}

// withFile is an action on the database and the file of --file, which must be given.
func withFile(flags *pflag.FlagSet, usage string, do func(context.Context, store.Location, string, io.Writer) error) action {
	locate := located(flags)
	file := flags.String("file", "", usage)
	return func(ctx context.Context, _ []string, out, _ io.Writer) error {
		if *file == "" {
			return errNoFile
		}
		at, err := locate()
		if err != nil {
			return err
		}
		return do(ctx, at, *file, out)
	}
}

var errNoFile = wrongUsage("--file is missing")
