package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/pflag"

	"crossgate/config"
	"crossgate/doctor"
	"crossgate/gateway"
	"crossgate/proxy/web"
)

// examine reports on every service in a configuration, and on the load of following its chains.
func examine(flags *pflag.FlagSet) action {
	asJSON := flags.Bool("json", false, "report as JSON")
	return configured(flags, func(ctx context.Context, c config.Config, out, errOut io.Writer) error {
		return diagnose(ctx, c, errOut, out, *asJSON)
	})
}

// diagnose writes the report. It returns an error if anything differs from the configuration or is unusable.
func diagnose(ctx context.Context, c config.Config, progress, out io.Writer, asJSON bool) error {
	bars := newBars(progress, c.Registry(), units{"endpoints", "answers"})
	var d doctor.Diagnosis
	err := bars.during(ctx, func() (err error) {
		d, err = doctor.Diagnose(ctx, c, bars.report)
		return err
	})
	if err != nil {
		return err
	}
	if asJSON {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		_ = encoder.Encode(d) // run notices what cannot be written
	} else {
		printEndpoints(out, d)
		printChains(out, d)
	}
	if wrong, all := d.Wrong(); wrong > 0 {
		return fmt.Errorf("WRONG: %d of %d endpoints and services; the report has the details", wrong, all)
	}
	return nil
}

func printEndpoints(out io.Writer, d doctor.Diagnosis) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "for\tendpoint\t\tsays")
	row := func(of, endpoint, said string, wrong, short []string) {
		state := "ok"
		switch {
		case len(wrong) > 0:
			state = "WRONG"
		case len(short) > 0:
			state = "limited"
		}
		lines := slices.Concat(wrong, short)
		if said != "" {
			lines = append([]string{said}, lines...)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", of, endpoint, state, strings.Join(lines, "; "))
	}
	for _, c := range d.Chains {
		for _, e := range c.Endpoints {
			row(fmt.Sprintf("%s (%d)", c.Name, c.Chain), e.Endpoint, e.Said, e.Wrong, e.Shortcomings)
		}
	}
	for _, s := range d.Services {
		row(s.Name, "", s.Said, s.Wrong, nil)
	}
	_ = table.Flush()
}

func printChains(out io.Writer, d doctor.Diagnosis) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "\nchain\tcalls a day\ta month\tunits a month\tUSD a month\twhile asked: calls a day\tUSD a month\tplans\t")
	byCost := slices.Clone(d.Chains) // by load while asked about, the largest first
	slices.SortFunc(byCost, func(a, b doctor.Chain) int { return cmp.Compare(b.Asked.CallsPerDay, a.Asked.CallsPerDay) })
	var unasked, asked []web.Load
	for _, c := range byCost {
		unasked, asked = append(unasked, c.Unasked), append(asked, c.Asked)
	}
	dearest := min(2, len(asked))
	for _, c := range d.Chains {
		plans := "none"
		if c.Unasked.Monthly > 0 {
			plans = web.Count(c.Unasked.Monthly)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", c.Name, web.Count(c.Unasked.CallsPerDay), web.Count(c.Unasked.CallsPerMonth),
			web.Count(c.Unasked.UnitsPerMonth), web.Dollars(c.Unasked.USDPerMonth), web.Count(c.Asked.CallsPerDay), web.Dollars(c.Asked.USDPerMonth), plans)
	}
	for _, sum := range []struct {
		asked string
		web.Load
	}{
		{"none", gateway.Sum(unasked...)},
		{"the two dearest", gateway.Sum(slices.Concat(asked[:dearest], unasked[dearest:])...)},
		{"all", gateway.Sum(asked...)},
	} {
		fmt.Fprintf(table, "all, %s asked about\t%s\t%s\t%s\t%s\t\t\t\t\n", sum.asked,
			web.Count(sum.CallsPerDay), web.Count(sum.CallsPerMonth), web.Count(sum.UnitsPerMonth), web.Dollars(sum.USDPerMonth))
	}
	_ = table.Flush()
	fmt.Fprintln(out, "\nUnits are by costs of the first endpoint; without any, 1 for a call if all have plans, or else 60 for eth_getLogs and 20 for others.")
	fmt.Fprintln(out, "USD a month are by price, an endpoint's key; a sum is known where each chain has an endpoint with one.")
	for _, c := range d.Chains {
		fmt.Fprintf(out, "%s: %s\n", c.Name, strings.Join(c.Verdict, "; "))
	}
}
