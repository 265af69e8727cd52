package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"

	"crossgate/cmd/crossgate/gateway"
	"crossgate/config"
)

// check loads and builds a configuration without opening anything, and calls endpoints only with --live, the old name
// of doctor.
func check(ctx context.Context, flags *flag.FlagSet, arguments []string, out io.Writer) error {
	file := configFlag(flags)
	live := flags.Bool("live", false, "what crossgate doctor does, afterwards")
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
		return diagnose(ctx, c, flags.Output(), out, false)
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
