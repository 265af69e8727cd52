package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"crossgate/internal/release"
	"crossgate/store"
)

func version(*pflag.FlagSet) action {
	return func(_ context.Context, out, _ io.Writer) error {
		_, err := fmt.Fprintln(out, release.Current())
		return err
	}
}

// upgradeCheck prints which versions can open a database, and whether this one can.
func upgradeCheck(flags *pflag.FlagSet) action {
	return located(flags, func(ctx context.Context, at store.Location, out io.Writer) error {
		found, err := at.Schema(ctx)
		if err != nil {
			return err
		}
		return printSchema(out, at, found)
	})
}

// printSchema returns an error if this program cannot open the database.
func printSchema(out io.Writer, at store.Location, s store.Schema) error {
	if s.Version == 0 {
		fmt.Fprintf(out, "database %s: nothing is in it yet; any version can open it, this one makes schema version %d\n", at, s.Known)
		return nil
	}
	fmt.Fprintf(out, "database %s: schema version %d; versions of crossgate that know schema version %d or later can open it\n", at, s.Version, s.Oldest)
	fmt.Fprintf(out, "this one, %s, knows schema versions up to %d: ", release.Current().Version, s.Known)
	switch {
	case !s.IsUsable():
		fmt.Fprintln(out, "it cannot open the database")
		return fmt.Errorf("the database is too new: run a newer crossgate, or restore a backup from before the upgrade")
	case s.Version < s.Known:
		fmt.Fprintf(out, "it migrates the database to %d when it starts\n", s.Known)
	case s.Version > s.Known:
		fmt.Fprintln(out, "it opens the database as it is")
	default:
		fmt.Fprintln(out, "there is nothing to migrate")
	}
	return nil
}
