package main

import (
	"context"
	"flag"
	"fmt"
	"io"

	"crossgate/store"
)

// locate reads the flags of a command on the database, and returns which one the configuration names.
func locate(flags *flag.FlagSet, arguments []string) (store.Location, error) {
	file := configFlag(flags)
	if err := parse(flags, arguments); err != nil {
		return store.Location{}, err
	}
	c, err := load(*file)
	return store.Location{Postgres: c.Index.Postgres.Reveal(), Path: c.Index.Path}, err
}

// migrateIndex brings the database's schema to a version.
func migrateIndex(ctx context.Context, flags *flag.FlagSet, arguments []string, out io.Writer) error {
	to := flags.Int64("to", 0, "`VERSION` of the schema, also an earlier one; the newest that this crossgate knows when 0")
	at, err := locate(flags, arguments)
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

// backupIndex copies the database into a file.
func backupIndex(ctx context.Context, flags *flag.FlagSet, arguments []string, out io.Writer) error {
	file := flags.String("file", "", "`FILE` to write, which must not exist")
	at, err := locate(flags, arguments)
	if err != nil {
		return err
	}
	if *file == "" {
		return lacksFile(flags)
	}
	if err := at.Backup(ctx, *file); err != nil {
		return err
	}
	fmt.Fprintln(out, "backup written:", *file)
	return nil
}

// restoreIndex fills an empty database from a file.
func restoreIndex(ctx context.Context, flags *flag.FlagSet, arguments []string, out io.Writer) error {
	file := flags.String("file", "", "`FILE` that index backup has written")
	at, err := locate(flags, arguments)
	if err != nil {
		return err
	}
	if *file == "" {
		return lacksFile(flags)
	}
	if err := at.Restore(ctx, *file); err != nil {
		return err
	}
	fmt.Fprintln(out, "restored into", at)
	return nil
}

func lacksFile(flags *flag.FlagSet) error {
	fmt.Fprintf(flags.Output(), "%s: --file is missing\n", flags.Name())
	return errUsage
}
