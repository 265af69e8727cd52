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

// check reads and builds a configuration without opening or calling anything, unless it is to ask the endpoints.
func check(ctx context.Context, flags *flag.FlagSet, arguments []string, out io.Writer) error {
	file := configFlag(flags)
	live := flags.Bool("live", false, "ask every endpoint who it is, and every chain for its contracts")
	if err := parse(flags, arguments); err != nil {
		return err
	}
	c, err := load(*file)
	var mistakes config.Mistakes
	if err != nil && !errors.As(err, &mistakes) {
		return err
	}
	// A file with mistakes may show further ones when its parts are made: all are told at once.
	var further config.Mistakes
	if errors.As(gateway.Check(c), &further) {
		mistakes = mistakes.With(further)
	}
	if len(mistakes) > 0 {
		return mistakes
	}
	fmt.Fprintf(out, "the configuration is valid: %d chains, %d venues\n", len(c.Chains), len(c.Venues))
	if *live {
		return examine(ctx, c, out)
	}
	return nil
}

// examine prints what became of asking each endpoint who it is; that some are not as configured is an error.
func examine(ctx context.Context, c config.Config, out io.Writer) error {
	findings, err := gateway.Examine(ctx, c)
	if err != nil {
		return err
	}
	wrong := 0
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "for\tendpoint\t\tsays")
	for _, f := range findings {
		verdict := "ok"
		if len(f.Wrong) > 0 {
			verdict = "WRONG"
			wrong++
		}
		said := f.Wrong
		if f.Said != "" {
			said = append([]string{f.Said}, said...)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", f.Of, f.Endpoint, verdict, strings.Join(said, "; "))
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print findings: %w", err)
	}
	if wrong > 0 {
		return fmt.Errorf("%d of %d endpoints are not as configured", wrong, len(findings))
	}
	return nil
}

// printSchema prints what editors check a configuration by.
func printSchema(_ context.Context, flags *flag.FlagSet, arguments []string, out io.Writer) error {
	if err := parse(flags, arguments); err != nil {
		return err
	}
	_, err := out.Write(config.Schema())
	return err
}
