package main

import (
	"fmt"
	"io"
	"reflect"

	"crossgate/chain"
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
