package main

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"

	"crossgate/chain"
	"crossgate/order/audit"
)

// report is the result of an audit or a repair, as text or as JSON.
type report struct {
	Sound  bool          `json:"sound"` // everything was compared and nothing differs
	Chains []chainReport `json:"chains"`
}

// chainReport is the part about one chain; Repaired is of a repair alone.
type chainReport struct {
	Chain       chain.ID           `json:"chain"`
	Name        string             `json:"name"`
	FromBlock   uint64             `json:"fromBlock"`
	ToBlock     uint64             `json:"toBlock"`
	Compared    *comparedReport    `json:"compared,omitempty"`
	Repaired    *repairedReport    `json:"repaired,omitempty"`
	Differences []differenceReport `json:"differences"`
	Unchecked   []uncheckedReport  `json:"unchecked"`
	Error       string             `json:"error,omitempty"`
}

type comparedReport struct {
	Orders       uint64 `json:"orders"`
	Transactions uint64 `json:"transactions"`
}

type repairedReport struct {
	Blocks    uint64       `json:"blocks"` // read again
	Added     uint64       `json:"added"`  // events
	Removed   uint64       `json:"removed"`
	Orders    []chain.Hash `json:"orders"`
	Endpoints []string     `json:"endpoints"` // found wrong
}

type differenceReport struct {
	Order   chain.Hash    `json:"order"`
	Missing []eventReport `json:"missing"`
	False   []eventReport `json:"false"`
	// ContractState is what the contract stores, where no event accounts for it.
	ContractState string `json:"contractState,omitempty"`
}

type eventReport struct {
	Event       string `json:"event"`
	Block       uint64 `json:"block"`
	LogIndex    uint   `json:"logIndex"`
	Transaction string `json:"transaction"`
}

type uncheckedReport struct {
	Order chain.Hash `json:"order"`
	Error string     `json:"error"`
}

func newAuditReport(audits []audit.Audit, chains chain.Registry) report {
	r := report{Sound: true, Chains: []chainReport{}}
	for _, a := range audits {
		r.Sound = r.Sound && a.IsSound()
		each := chainReport{Chain: a.Chain, FromBlock: a.From, ToBlock: a.To}
		each.compare(a, chains)
		r.Chains = append(r.Chains, each)
	}
	return r
}

func newRepairReport(repairs []audit.Repair, chains chain.Registry) report {
	r := report{Sound: true, Chains: []chainReport{}}
	for _, each := range repairs {
		r.Sound = r.Sound && each.IsWhole()
		c := chainReport{Chain: each.Chain, FromBlock: each.From, ToBlock: each.To}
		left := audit.Audit{Chain: each.Chain}
		if each.Left != nil {
			left = *each.Left
		}
		left.Err = each.Err
		c.compare(left, chains)
		if each.Left == nil {
			c.Compared = nil
		}
		c.Repaired = &repairedReport{
			each.Blocks, each.Added, each.Removed, append([]chain.Hash{}, each.Orders...), append([]string{}, each.Wrong...),
		}
		r.Chains = append(r.Chains, c)
	}
	return r
}

// compare fills in what an audit found.
func (c *chainReport) compare(a audit.Audit, chains chain.Registry) {
	known, _ := chains.Chain(a.Chain)
	c.Name, c.Compared = known.Name, &comparedReport{a.Orders, a.Transactions}
	c.Differences, c.Unchecked = []differenceReport{}, []uncheckedReport{}
	for _, d := range a.Differences {
		each := differenceReport{Order: d.Order, Missing: []eventReport{}, False: []eventReport{}}
		for _, e := range d.Missing {
			each.Missing = append(each.Missing, newEventReport(e.Fact, e.At.Block, e.At.LogIndex, e.At.Tx))
		}
		for _, e := range d.False {
			each.False = append(each.False, newEventReport(e.Fact, e.At.Block, e.At.LogIndex, e.At.Tx))
		}
		if d.Contradicted {
			each.ContractState = d.State.String()
		}
		c.Differences = append(c.Differences, each)
	}
	for _, u := range a.Unchecked {
		c.Unchecked = append(c.Unchecked, uncheckedReport{u.Order, u.Err.Error()})
	}
	if a.Err != nil {
		c.Error = a.Err.Error()
	}
}

// newEventReport names an event by its fact's type, which is named as the contract's event.
func newEventReport(fact any, block uint64, logIndex uint, tx chain.TxHash) eventReport {
	return eventReport{reflect.TypeOf(fact).Name(), block, logIndex, tx.String()}
}

// write writes the report and returns errDiffers unless everything is sound.
func (r report) write(out io.Writer, asJSON bool) error {
	if asJSON {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(r); err != nil {
			return err
		}
	} else {
		for _, c := range r.Chains {
			c.print(out)
		}
	}
	if !r.Sound {
		return errDiffers
	}
	return nil
}

// print writes a line about the chain, and one for everything that is wrong.
func (c chainReport) print(out io.Writer) {
	fmt.Fprintf(out, "%s (%d), blocks %d to %d:", c.Name, c.Chain, c.FromBlock, c.ToBlock)
	if did := c.Repaired; did != nil {
		fmt.Fprintf(out, " %d blocks read again, %d events added, %d removed, %d orders corrected;", did.Blocks, did.Added, did.Removed, len(did.Orders))
	}
	if c.Compared != nil {
		fmt.Fprintf(out, " %d orders and %d transactions compared,", c.Compared.Orders, c.Compared.Transactions)
	}
	fmt.Fprintf(out, " %d orders differ, %d not compared\n", len(c.Differences), len(c.Unchecked))
	if did := c.Repaired; did != nil {
		for _, id := range did.Orders {
			fmt.Fprintf(out, "  corrected: %s\n", id)
		}
		for _, name := range did.Endpoints {
			fmt.Fprintf(out, "  wrong endpoint: %s\n", name)
		}
	}
	for _, d := range c.Differences {
		fmt.Fprintf(out, "  %s\n", d.Order)
		for _, e := range d.Missing {
			fmt.Fprintf(out, "    missing: %s in block %d, transaction %s\n", e.Event, e.Block, e.Transaction)
		}
		for _, e := range d.False {
			fmt.Fprintf(out, "    false:   %s in block %d, transaction %s\n", e.Event, e.Block, e.Transaction)
		}
		if d.ContractState != "" {
			fmt.Fprintf(out, "    the contract stores %s, and no event accounts for it\n", d.ContractState)
		}
	}
	for _, u := range c.Unchecked {
		fmt.Fprintf(out, "  %s: not compared: %s\n", u.Order, u.Error)
	}
	if c.Error != "" {
		fmt.Fprintf(out, "  ended early: %s\n", c.Error)
	}
}
