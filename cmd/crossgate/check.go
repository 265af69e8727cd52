package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"crossgate/config"
	"crossgate/gateway"
	"crossgate/internal/release"
	"crossgate/proxy/web"
	"crossgate/store"
)

// check loads and builds a configuration without opening or calling anything.
func check(flags *pflag.FlagSet) action {
	file := configFlag(flags)
	return func(_ context.Context, out, _ io.Writer) error {
		c, err := load(*file)
		var mistakes config.Mistakes
		if err != nil && !errors.As(err, &mistakes) {
			return err
		}
		// Building the parts may find further mistakes: report all together.
		var further config.Mistakes
		if errors.As(gateway.Check(c), &further) {
			mistakes = mistakes.With(further)
		}
		if len(mistakes) > 0 {
			return fmt.Errorf("configuration %s: %w", configName(*file), mistakes)
		}
		fmt.Fprintf(out, "configuration valid: %s: %s, %s\n", configName(*file), web.Plural(len(c.Chains), "chain"), web.Plural(len(c.Venues), "venue"))
		for _, host := range c.Passthrough.Hosts {
			if host.KeepHost {
				fmt.Fprintf(out, "passthrough host %s: keepHost: its origin gets the client's Host with its port, and each one is cached apart; accepted: %s\n",
					host.Name, cmp.Or(strings.Join(host.Hosts, ", "), "any that no other host has; set hosts to name them"))
			}
		}
		return nil
	}
}

func configName(file string) string { return cmp.Or(file, "the embedded default") }

func schema(flags *pflag.FlagSet) action {
	return func(_ context.Context, out, _ io.Writer) error {
		_, err := out.Write(config.Schema())
		return err
	}
}

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
