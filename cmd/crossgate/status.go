package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"text/tabwriter"
	"time"

	"crossgate/cmd/crossgate/gateway"
	"crossgate/order/index"
)

// headLimit is how long reading the heads of the chains may take.
const headLimit = 10 * time.Second

// indexCommand runs the subcommands of crossgate index: status.
func indexCommand(ctx context.Context, flags *flag.FlagSet, arguments []string, out io.Writer) error {
	if len(arguments) == 0 || arguments[0] != "status" {
		fmt.Fprint(flags.Output(), "usage: crossgate index status [--config FILE]\n")
		return errUsage
	}
	file := configFlag(flags)
	if err := parse(flags, arguments[1:]); err != nil {
		return err
	}
	c, err := load(*file)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, headLimit)
	defer cancel()
	status, err := gateway.IndexStatus(ctx, c, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "chain\thead\tindexed from\tto\tas of\tlag\torders\tlocked\t")
	registry := c.Registry()
	for _, s := range status {
		known, _ := registry.Chain(s.Chain)
		fmt.Fprintf(table, "%s (%d)\t%s\t%d\t%d\t%s\t%s\t%d\t%d\t\n", known.Name, s.Chain, headText(s),
			s.First, s.Indexed, timeText(s), lagText(s), s.Orders, s.Locked)
	}
	return table.Flush()
}

func headText(s index.Status) string {
	if s.Err != nil {
		return "unreachable"
	}
	return fmt.Sprint(s.Head)
}

func timeText(s index.Status) string {
	if !s.Known {
		return "-"
	}
	return time.Unix(int64(s.IndexedTime), 0).UTC().Format(time.DateTime)
}

// lagText is in blocks: a chain may have stopped producing them.
func lagText(s index.Status) string {
	switch {
	case !s.Known:
		return "not read yet"
	case s.Err != nil:
		return "?"
	}
	return fmt.Sprintf("%d blocks", s.Head-min(s.Indexed, s.Head))
}
