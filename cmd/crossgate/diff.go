package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"text/tabwriter"

	"github.com/spf13/pflag"

	"crossgate/gateway"
	"crossgate/proxy/orders"
)

// errUnlike ends a comparison whose report says what differs.
var errUnlike = errors.New("the answers differ")

// diff compares the answer about an order with the origin's.
func diff(flags *pflag.FlagSet) action {
	file := configFlag(flags)
	origin := flags.String("origin", "", "`name` of the host under passthrough.hosts to compare with; needless where there is one")
	return func(ctx context.Context, arguments []string, out, _ io.Writer) error {
		if len(arguments) == 0 {
			return wrongUsage("want the hash of an order, or of its creation")
		}
		c, err := load(*file)
		if err != nil {
			return err
		}
		compared, err := gateway.CompareOrder(ctx, c, slog.New(slog.DiscardHandler), *origin, arguments[0])
		if err != nil {
			return err
		}
		return printCompared(out, compared)
	}
}

// printCompared writes a line for each member that differs, and returns errUnlike when there is any.
func printCompared(out io.Writer, compared orders.ComparedOrder) error {
	if len(compared.Differences) == 0 {
		fmt.Fprintf(out, "%s: status %d (%s) here and there, nothing differs\n", compared.Path, compared.Status, http.StatusText(compared.Status))
		return nil
	}
	fmt.Fprintf(out, "%s: %d members differ\n", compared.Path, len(compared.Differences))
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "class\tmember\tours\ttheirs")
	for _, d := range compared.Differences {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", d.Class, d.Member, cmp.Or(d.Ours, "absent"), cmp.Or(d.Theirs, "absent"))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	return errUnlike
}
