package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/gateway"
	"crossgate/order/audit"
	"crossgate/order/ledger"
)

var errDiffers = errors.New("the index differs from the chains, or could not be compared; the report has the details")

var errStopped = errors.New("stopped before everything was compared; corrections are stored: run repair again to continue")

type inspection struct {
	config config.Config
	of     ledger.Selection
}

func (i inspection) during(ctx context.Context, b *bars, work func(*audit.Books) error) error {
	return b.during(ctx, func() error { return withBooks(ctx, i.config, work) })
}

// withBooks opens the books of a configuration while work runs. The database must exist. Errors are in the results of
// work, not logged.
func withBooks(ctx context.Context, c config.Config, work func(*audit.Books) error) error {
	at := gateway.Database(c)
	if found, err := at.Schema(ctx); err != nil {
		return err
	} else if found.Version == 0 {
		return fmt.Errorf("database %s: it is empty; crossgate serve or backfill fills it", at)
	}
	return gateway.WithBooks(ctx, c, slog.New(slog.DiscardHandler), work)
}

// inspected returns an action on the selection of orders in its command line.
func inspected(flags *pflag.FlagSet, do func(ctx context.Context, i inspection, out, errOut io.Writer) error) action {
	var i inspection
	flags.Func("order", "`ID` of an order, even if it is not indexed; may be repeated", func(text string) error {
		id, err := chain.ParseHash(text)
		i.of.Orders = append(i.of.Orders, id)
		return err
	})
	flags.Func("taker", "`ADDRESS` of an unlock authority: orders delivered by it", func(text string) (err error) {
		i.of.Taker, _, err = chain.ParseAnyAddress(text)
		return err
	})
	flags.Func("chain", "`ID` of a chain; default: all chains", func(text string) (err error) {
		i.of.Chain, err = chain.ParseID(text)
		return err
	})
	flags.Func("since", "`TIME`, as 2026-01-31 or 2026-01-31T12:00:00Z: orders with an event from then on", unixTime(&i.of.Since))
	flags.Func("until", "`TIME`: orders with an event until then", unixTime(&i.of.Until))
	return configured(flags, func(ctx context.Context, c config.Config, out, errOut io.Writer) error {
		i.config = c
		if i.of.Until > 0 && i.of.Since > i.of.Until {
			return wrongUsage("--since is after --until")
		}
		var known []string
		for _, own := range c.Chains {
			known = append(known, own.ID.String())
		}
		if i.of.Chain != 0 && !slices.Contains(known, i.of.Chain.String()) {
			return fmt.Errorf("chain %d is not configured: want one of %s", i.of.Chain, strings.Join(known, ", "))
		}
		return do(ctx, i, out, errOut)
	})
}

// unixTime returns a flag parser for a date (in UTC) or a time in RFC 3339.
func unixTime(seconds *uint64) func(string) error {
	return func(text string) error {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			at, err = time.Parse(time.DateOnly, text)
		}
		if err != nil || at.Unix() < 0 {
			return fmt.Errorf("%q is not a time: want 2026-01-31 or 2026-01-31T12:00:00Z", text)
		}
		*seconds = uint64(at.Unix())
		return nil
	}
}

func auditIndex(flags *pflag.FlagSet) action {
	return inspected(flags, func(ctx context.Context, i inspection, out, errOut io.Writer) error {
		bars := newBars(errOut, i.config.Registry(), units{"orders", "transactions"})
		var audits []audit.Audit
		err := i.during(ctx, bars, func(books *audit.Books) (err error) {
			audits, err = books.Audit(ctx, i.of, bars.report)
			return err
		})
		if err != nil {
			return err
		}
		return printAudits(out, audits, i.config.Registry())
	})
}

func repairIndex(flags *pflag.FlagSet) action {
	const everyBlock = 1<<63 - 1
	first := flags.Uint64("from", 0, "first `BLOCK` to verify again")
	last := flags.Uint64("to", everyBlock, "last `BLOCK` to verify again; default: the newest final one that was read")
	return inspected(flags, func(ctx context.Context, i inspection, out, errOut io.Writer) error {
		ofBlocks := flags.Changed("from") || flags.Changed("to")
		if ofBlocks && (len(i.of.Orders) > 0 || !i.of.Taker.IsAbsent() || i.of.Since > 0 || i.of.Until > 0) {
			return wrongUsage("--from and --to cannot be combined with a selection of orders, only with --chain")
		}
		if *first > *last {
			return wrongUsage("--from %d is after --to %d", *first, *last)
		}
		counted := units{"orders", "transactions"}
		if ofBlocks {
			counted = units{"blocks", "corrections"}
		}
		bars := newBars(errOut, i.config.Registry(), counted)
		var repairs []audit.Repair
		err := i.during(ctx, bars, func(books *audit.Books) (err error) {
			if ofBlocks {
				repairs, err = books.RepairBlocks(ctx, i.of.Chain, *first, min(*last, everyBlock), bars.report)
			} else {
				repairs, err = books.Repair(ctx, i.of, bars.report)
			}
			return err
		})
		stopped := errors.Is(err, context.Canceled)
		if err != nil && !stopped {
			return err
		}
		if err := printRepairs(out, repairs, i.config.Registry()); !stopped {
			return err
		}
		return errStopped
	})
}

func withdrawIndex(flags *pflag.FlagSet) action {
	id := flags.Uint64("chain", 0, "`ID` of the chain")
	from := flags.Uint64("from", 0, "first `BLOCK` to withdraw")
	return configured(flags, func(ctx context.Context, c config.Config, out, _ io.Writer) error {
		if !flags.Changed("chain") || !flags.Changed("from") {
			return wrongUsage("want --chain and --from")
		}
		return withBooks(ctx, c, func(books *audit.Books) error {
			came, err := books.Withdraw(ctx, chain.ID(*id), *from)
			if err == nil {
				fmt.Fprintf(out, "chain %d: withdrew blocks %d to %d; %d orders changed\n", *id, *from, came.Was, came.Orders)
			}
			return err
		})
	})
}

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
