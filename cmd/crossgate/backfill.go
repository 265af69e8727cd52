package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/pflag"

	"crossgate/config"
	"crossgate/gateway"
	"crossgate/order/audit"
)

// backfill reads history into the order index until it has read all that any endpoint provides, or is stopped. The next
// backfill resumes there.
func backfill(flags *pflag.FlagSet) action {
	return configured(flags, func(ctx context.Context, c config.Config, out, errOut io.Writer) error {
		bars := newBars(errOut, c.Registry(), units{"blocks", "events"})
		// The bars show errors of their chains.
		err := bars.during(ctx, func() error {
			return gateway.WithBooks(ctx, c, slog.New(slog.DiscardHandler), func(books *audit.Books) error { return books.Backfill(ctx, bars.report) })
		})
		switch {
		case errors.Is(err, context.Canceled):
			return errors.New("backfill stopped before all history was read; progress is stored: run it again to continue")
		case errors.As(err, new(*audit.HistoryError)):
			return fmt.Errorf("backfill incomplete: %w; add endpoints that keep old logs, and run it again to continue", err)
		case err != nil:
			return err
		}
		fmt.Fprintln(out, "backfill complete: the history of every chain is indexed")
		return nil
	})
}
