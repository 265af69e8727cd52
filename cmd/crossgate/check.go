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
	"crossgate/proxy/web"
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
