package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"crossgate/cmd/crossgate/gateway"
	"crossgate/config"
)

// check loads and builds a configuration without opening anything, and calls endpoints only with --live.
func check(ctx context.Context, flags *flag.FlagSet, arguments []string, out io.Writer) error {
	file := configFlag(flags)
	live := flags.Bool("live", false, "call every endpoint: compare its chain, head and contracts with the configuration")
	if err := parse(flags, arguments); err != nil {
		return err
	}
	c, err := load(*file)
	var mistakes config.Mistakes
	if err != nil && !errors.As(err, &mistakes) {
		return err
	}
	// Building the parts may find further mistakes: all are reported at once.
	var further config.Mistakes
	if errors.As(gateway.Check(c), &further) {
		mistakes = mistakes.With(further)
	}
	if len(mistakes) > 0 {
		return mistakes
	}
	fmt.Fprintf(out, "configuration valid: %d chains, %d venues\n", len(c.Chains), len(c.Venues))
	if *live {
		return identify(ctx, c, out)
	}
	return nil
}

// identify prints what each endpoint says it serves; it is an error when some differ from the configuration.
func identify(ctx context.Context, c config.Config, out io.Writer) error {
	identities, err := gateway.Identify(ctx, c)
	if err != nil {
		return err
	}
	wrong := 0
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "for\tendpoint\t\tsays")
	for _, f := range identities {
		state := "ok"
		if len(f.Wrong) > 0 {
			state = "WRONG"
			wrong++
		}
		said := f.Wrong
		if f.Said != "" {
			said = append([]string{f.Said}, said...)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", f.Of, f.Endpoint, state, strings.Join(said, "; "))
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print table: %w", err)
	}
	if wrong > 0 {
		return fmt.Errorf("%d of %d endpoints differ from the configuration: see WRONG above", wrong, len(identities))
	}
	return nil
}

// printSchema prints the JSON schema of the configuration.
func printSchema(_ context.Context, flags *flag.FlagSet, arguments []string, out io.Writer) error {
	if err := parse(flags, arguments); err != nil {
		return err
	}
	_, err := out.Write(config.Schema())
	return err
}
