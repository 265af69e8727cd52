package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/order/audit"
)

// importOrders verifies listed orders of a taker on their chains and stores them.
func importOrders(flags *pflag.FlagSet) action {
	file := configFlag(flags)
	var of takersOrders
	flags.Func("taker", "unlock authority's `ADDRESS`, whose orders are listed", func(text string) (err error) {
		of.taker, _, err = chain.ParseAnyAddress(text)
		return err
	})
	return func(ctx context.Context, arguments []string, out, errOut io.Writer) error {
		if of.taker.IsAbsent() || len(arguments) != 1 {
			return wrongUsage("want --taker ADDRESS and a FILE of order ids, - for standard input")
		}
		c, err := load(*file)
		if err != nil {
			return err
		}
		if of.ids, err = listedOrders(arguments[0]); err != nil {
			return err
		}
		return of.verify(ctx, c, out, errOut)
	}
}

// takersOrders are orders listed as those of a taker.
type takersOrders struct {
	taker chain.Address
	ids   []chain.Hash
}

// verify stores those that their chains confirm, and reports on all.
func (of takersOrders) verify(ctx context.Context, c config.Config, out, errOut io.Writer) error {
	bars := newBars(errOut, c.Registry(), units{"orders", "events"})
	var came audit.Imported
	err := bars.during(ctx, func() (err error) {
		return withBooks(ctx, c, func(books *audit.Books) error {
			came, err = books.Import(ctx, of.taker, of.ids, bars.report)
			return err
		})
	})
	if err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	printImported(out, came)
	switch {
	case err != nil:
		return errors.New("import stopped before every order was asked for; verified orders are stored: run it again to continue")
	case len(came.Unverified) > 0:
		return fmt.Errorf("%d orders could not be verified; the others are stored: run import again", len(came.Unverified))
	}
	return nil
}

// listedOrders reads the order ids of a file, or of standard input.
func listedOrders(name string) ([]chain.Hash, error) {
	from := io.Reader(os.Stdin)
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		from = file
	}
	ids, err := readOrderIDs(from)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return ids, nil
}

// readOrderIDs reads a list of order ids, one a line.
func readOrderIDs(from io.Reader) (ids []chain.Hash, err error) {
	lines := bufio.NewScanner(from)
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" {
			continue
		}
		id, err := chain.ParseHash(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		ids = append(ids, id)
	}
	if len(ids) == 0 && lines.Err() == nil {
		return nil, errors.New("no order id in it")
	}
	return ids, lines.Err()
}

// printImported writes what an import came to, and a line for every order that does not count.
func printImported(out io.Writer, came audit.Imported) {
	fmt.Fprintf(out, "%d orders listed: %d were stored, %d verified, %d of others, %d not verified\n",
		came.Listed, came.Stored, came.Verified, len(came.Foreign), len(came.Unverified))
	for _, each := range came.Foreign {
		if each.Taker.IsAbsent() {
			fmt.Fprintf(out, "  %s: not counted: not delivered\n", each.Order)
			continue
		}
		fmt.Fprintf(out, "  %s: not counted: the taker is %s\n", each.Order, each.Taker.Format(chain.UnknownFamily))
	}
	for _, each := range came.Unverified {
		// Several chains say why in lines of their own.
		fmt.Fprintf(out, "  %s: not verified: %s\n", each.Order, strings.ReplaceAll(each.Err.Error(), "\n", "; "))
	}
}
