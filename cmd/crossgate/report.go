package main

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/audit"
)

// printAudits writes a line for each chain and one for each fault. It returns errDiffers unless everything was compared
// and nothing differs.
func printAudits(out io.Writer, audits []audit.Audit, chains chain.Registry) error {
	isSound := true
	for _, a := range audits {
		isSound = isSound && a.IsSound()
		printRange(out, chains, a.Chain, a.From, a.To)
		printCounts(out, a, true)
		printDetails(out, a)
	}
	if !isSound {
		return errDiffers
	}
	return nil
}

func printRepairs(out io.Writer, repairs []audit.Repair, chains chain.Registry) error {
	isWhole := true
	for _, r := range repairs {
		isWhole = isWhole && r.IsWhole()
		printRange(out, chains, r.Chain, r.From, r.To)
		fmt.Fprintf(out, " %d blocks read again, %d events added, %d removed, %d orders corrected;", r.Blocks, r.Added, r.Removed, len(r.Orders))
		left := audit.Audit{}
		if r.Left != nil {
			left = *r.Left
		}
		left.Err = r.Err
		printCounts(out, left, r.Left != nil)
		for _, id := range r.Orders {
			fmt.Fprintf(out, "  corrected: %s\n", id)
		}
		for _, name := range r.Wrong {
			fmt.Fprintf(out, "  wrong endpoint: %s\n", name)
		}
		printDetails(out, left)
	}
	if !isWhole {
		return errDiffers
	}
	return nil
}

func printRange(out io.Writer, chains chain.Registry, id chain.ID, from, to uint64) {
	fmt.Fprintf(out, "%s, blocks %d to %d:", chainText(chains, id), from, to)
}

func printCounts(out io.Writer, a audit.Audit, wasCompared bool) {
	if wasCompared {
		fmt.Fprintf(out, " %d orders and %d transactions compared,", a.Orders, a.Transactions)
	}
	fmt.Fprintf(out, " %d orders differ, %d not compared\n", len(a.Differences), len(a.Unchecked))
}

func printDetails(out io.Writer, a audit.Audit) {
	for _, d := range a.Differences {
		fmt.Fprintf(out, "  %s\n", d.Order)
		for _, e := range d.Missing {
			printEvent(out, "missing:", e.Fact, e.At.Block, e.At.Tx)
		}
		for _, e := range d.False {
			printEvent(out, "false:  ", e.Fact, e.At.Block, e.At.Tx)
		}
		if d.Contradicted {
			fmt.Fprintf(out, "    the contract stores %s, and no event accounts for it\n", d.State)
		}
	}
	for _, u := range a.Unchecked {
		fmt.Fprintf(out, "  %s: not compared: %s\n", u.Order, u.Err)
	}
	if a.Err != nil {
		fmt.Fprintf(out, "  ended early: %s\n", a.Err)
	}
}

// printEvent prints an event under the name of its fact's type, which is the contract's name for the event.
func printEvent(out io.Writer, how string, fact any, block uint64, tx chain.TxHash) {
	fmt.Fprintf(out, "    %s %s in block %d, transaction %s\n", how, reflect.TypeOf(fact).Name(), block, tx)
}

// bars prints the progress of each chain that has progressed since it was last printed.
type bars struct {
	out    io.Writer
	chains chain.Registry
	units  units
	begun  time.Time

	mu      sync.Mutex
	changed map[chain.ID]audit.Progress // since the last print
}

type units struct{ read, found string }

func newBars(out io.Writer, chains chain.Registry, u units) *bars {
	return &bars{out: out, chains: chains, units: u, begun: time.Now(), changed: make(map[chain.ID]audit.Progress)}
}

func (b *bars) report(p audit.Progress) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.changed[p.Chain] = p
}

// during prints periodically while work runs, and once more when it ends.
func (b *bars) during(ctx context.Context, work func() error) error {
	const interval = 15 * time.Second
	watching, stop := context.WithCancel(ctx)
	var printing sync.WaitGroup
	printing.Go(func() {
		for order.Wait(watching, interval, nil) {
			b.print(time.Now())
		}
		b.print(time.Now())
	})
	err := work()
	stop()
	printing.Wait()
	return err
}

func (b *bars) print(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.chains.All() {
		if p, known := b.changed[c.ID]; known {
			fmt.Fprintln(b.out, bar(c.Name, p, b.units, now.Sub(b.begun)))
		}
	}
	clear(b.changed)
}

// bar formats one chain's line: the share read, the speed, and the remaining time at that speed.
func bar(name string, p audit.Progress, u units, elapsed time.Duration) string {
	const cells = 24
	share := 1.0
	if p.Total > 0 {
		share = float64(p.Read) / float64(p.Total)
	}
	filled := int(share * cells)
	line := fmt.Sprintf("%-14s [%s%s] %5.1f%%  %d of %d %s, %.0f %s/s",
		name, strings.Repeat("=", filled), strings.Repeat(" ", cells-filled), 100*share, p.Read, p.Total, u.read,
		float64(p.Events)/max(elapsed.Seconds(), 1e-3), u.found)
	switch {
	case p.Done && p.Err != nil:
		return fmt.Sprintf("%s, given up: %.120s", line, p.Err)
	case p.Done:
		return line + ", done"
	case p.Err != nil:
		return fmt.Sprintf("%s, waiting: %.120s", line, p.Err)
	case p.Read == 0:
		return line
	}
	left := time.Duration(float64(elapsed) * float64(p.Total-p.Read) / float64(p.Read))
	return fmt.Sprintf("%s, %v left", line, left.Round(time.Second))
}
