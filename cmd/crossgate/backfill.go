package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/pflag"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/order/audit"
)

// backfill reads history into the order index until all is read that any endpoint gives, or it is stopped. The next one
// resumes there.
func backfill(flags *pflag.FlagSet) action {
	file := configFlag(flags)
	dry := flags.Bool("dry-run", false, "estimate how much is left to read and how long that takes, without reading")
	return func(ctx context.Context, _ []string, out, errOut io.Writer) error {
		c, err := load(*file)
		if err != nil {
			return err
		}
		if *dry {
			return estimateBackfill(ctx, c, out)
		}
		bars := newBars(errOut, c.Registry(), units{"blocks", "events"})
		// Errors are shown beside the bar of their chain.
		err = bars.during(ctx, func() error {
			return withBooks(ctx, c, func(books *audit.Books) error { return books.Backfill(ctx, bars.report) })
		})
		switch {
		case errors.Is(err, context.Canceled):
			return errors.New("backfill stopped before all history was read; progress is stored: run it again to continue")
		case errors.As(err, new(*audit.HistoryError)):
			return fmt.Errorf("backfill incomplete: %w; add endpoints that keep old logs, and run it again to go on", err)
		case err != nil:
			return err
		}
		fmt.Fprintln(out, "backfill complete: the history of every chain is indexed")
		return nil
	}
}

// estimateBackfill prints what a backfill would read.
func estimateBackfill(ctx context.Context, c config.Config, out io.Writer) error {
	var estimates []audit.BackfillEstimate
	err := withBooks(ctx, c, func(books *audit.Books) error {
		estimates = books.EstimateBackfill(ctx)
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	registry, unknown := c.Registry(), 0
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "chain\tfrom\tto\tblocks\tcalls\tat least\t")
	for _, e := range estimates {
		known, _ := registry.Chain(e.Chain)
		if e.Err != nil {
			unknown++
			fmt.Fprintf(table, "%s\t?\t?\t?\t?\t?\t\n", known.Name)
			continue
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%s\t\n", known.Name, e.From, e.To, e.Blocks(), e.Calls, atLeast(c, e.Chain, e.Calls))
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print table: %w", err)
	}
	fmt.Fprintln(out, "Each creation of an order takes a call more, as does each block with orders where logs come without their time. Nothing was read.")
	for _, e := range estimates {
		if e.Err != nil {
			known, _ := registry.Chain(e.Chain)
			fmt.Fprintf(out, "%s: %s\n", known.Name, e.Err)
		}
	}
	if unknown > 0 {
		return fmt.Errorf("%d of %d chains could not be asked", unknown, len(estimates))
	}
	return nil
}

// atLeast is how long calls take at the rates of a chain's endpoints, half of which a backfill leaves to others.
func atLeast(c config.Config, id chain.ID, calls uint64) string {
	rate := 0.0
	for _, own := range c.Chains {
		for _, e := range own.Endpoints {
			if own.ID == id && e.RequestsPerSecond == 0 {
				return "no limit"
			}
			if own.ID == id {
				rate += e.RequestsPerSecond / 2
			}
		}
	}
	return time.Duration(float64(calls) / rate * float64(time.Second)).Round(time.Second).String()
}
