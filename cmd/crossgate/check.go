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

// check reads and builds a configuration without opening or calling anything.
func check(_ context.Context, flags *flag.FlagSet, arguments []string, out io.Writer) error {
	file := flags.String("config", "", "configuration `file`; the embedded default when empty")
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
	return nil
}
