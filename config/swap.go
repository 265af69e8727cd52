package config

import (
	"fmt"
	"time"

	"crossgate/chain"
)

// Swap says how swaps are executed and how long a comparison of venues may take.
type Swap struct {
	Execution Execution     `yaml:"execution"` // on chains that do not say otherwise
	Window    time.Duration `yaml:"window"`    // venues that have not priced a swap by then are left out
	Deadline  time.Duration `yaml:"deadline"`  // of the whole answer, with the transaction
	Fee       Fee           `yaml:"fee"`       // on EVM chains that do not say otherwise
}

// Fee is the operator's own share of swaps that call a venue directly: a part of the input, which the venue pays out.
// Venues that cannot are left out of them. Swaps through the public router have none, as that has a fee of its own.
type Fee struct {
	Bps       int           `yaml:"bps"`       // basis points; 0: none, 1000 at most
	Recipient chain.Address `yaml:"recipient"` // wanted with bps, and with nothing else
}

// largestFee is the share that the API allows an affiliate: 10 %.
const largestFee = 1000

func (f Fee) check(family chain.Family, at place) {
	if f.Bps < 0 || f.Bps > largestFee {
		at.key("bps").mistake("want 0 to %d basis points", largestFee)
	}
	checkAddress(f.Recipient, family, at.key("recipient"))
	switch {
	case f.Bps != 0 && (f.Recipient.IsAbsent() || f.Recipient.IsNative()):
		at.key("recipient").mistake("want the address that is paid the fee")
	case f.Bps == 0 && !f.Recipient.IsAbsent():
		at.key("bps").mistake("want more than 0 for the recipient")
	}
}

// Fees are the operator's shares of direct swaps, by chain; chains without one have none.
func (c Config) Fees() map[chain.ID]Fee {
	fees := make(map[chain.ID]Fee)
	for _, each := range c.Registry().All() {
		if each.Family == chain.EVM && c.Swap.Fee.Bps > 0 {
			fees[each.ID] = c.Swap.Fee
		}
	}
	for _, own := range c.Chains {
		if own.Fee != nil {
			fees[own.ID] = *own.Fee
		}
	}
	return fees
}

// Execution is which contract the transactions of swaps call.
type Execution string

// The ways of execution.
const (
	ExecuteByRouter Execution = "router" // the protocol's public router, where it calls the venue's; else direct
	ExecuteDirectly Execution = "direct" // the venue's own router
	ExecuteBest     Execution = "best"   // whichever leaves the recipient more
)

// ParseExecution reads a way of execution.
func ParseExecution(text string) (Execution, error) {
	switch e := Execution(text); e {
	case ExecuteByRouter, ExecuteDirectly, ExecuteBest:
		return e, nil
	}
	return "", fmt.Errorf("%q is no way of execution", text)
}

func defaultSwap() Swap {
	return Swap{Execution: ExecuteByRouter, Window: 2500 * time.Millisecond, Deadline: 6 * time.Second}
}

func (s Swap) check(at place) {
	s.Fee.check(chain.EVM, at.key("fee"))
	if s.Window <= 0 {
		at.key("window").mistake("want more than nothing")
	}
	if s.Deadline <= s.Window {
		at.key("deadline").mistake("want more than the window: the best venue's transaction is built after it")
	}
}
