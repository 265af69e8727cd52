package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"

	"crossgate/cmd/crossgate/gateway"
	"crossgate/order/index"
)

// backfill reads history into the order index until all is read that any endpoint gives, or it is stopped. The next one
// resumes there.
func backfill(ctx context.Context, flags *flag.FlagSet, arguments []string, out io.Writer) error {
	file := configFlag(flags)
	if err := parse(flags, arguments); err != nil {
		return err
	}
	c, err := load(*file)
	if err != nil {
		return err
	}
	bars := newBars(flags.Output(), c.Registry(), units{"blocks", "events"})
	// Errors are shown beside the bar of their chain.
	err = bars.during(ctx, func() error {
		return gateway.Backfill(ctx, c, slog.New(slog.DiscardHandler), bars.report)
	})
	switch {
	case errors.Is(err, context.Canceled):
		return errors.New("backfill stopped before all history was read; what was read is stored: run it again to go on")
	case errors.As(err, new(*index.HistoryError)):
		return fmt.Errorf("backfill incomplete: %w; add endpoints that keep old logs, and run it again to go on", err)
	case err != nil:
		return err
	}
	fmt.Fprintln(out, "backfill complete: the history of every chain is indexed")
	return nil
}
