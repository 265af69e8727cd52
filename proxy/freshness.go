package proxy

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"crossgate/chain"
	"crossgate/order"
)

// Headers that show how fresh an answer from the order index is, and how much of the chains it covers
// (docs/decisions/0008-order-index.md). Their values are structured fields (RFC 9651): lists of chain ids with
// parameters.
const (
	indexBasis      = "Index-Basis"
	orderUnsearched = "X-Order-Unsearched"
)

// chainsUnheard is the header of the chains that might have the answer but did not reply (RFC 9651).
const chainsUnheard = "X-Chains-Unheard"

func unheardValue(chains []chain.ID) []string { return []string{Joined(chains)} }

// freshness is a basis as header values, nil for a header to omit.
type freshness struct {
	basis      []string // per followed chain
	unsearched []string // per chain, the range of blocks that may hold more of an order but could not be searched
}

// freshnessOf returns the basis of an answer as it was when the answer was made.
func freshnessOf(b order.Basis, made time.Time) freshness {
	var basis, missing []string
	for i := range b.Chains {
		c := &b.Chains[i]
		if r := c.Unsearched; r.To > 0 {
			missing = append(missing, fmt.Sprintf("%s;first=%d;last=%d", c.Chain, r.From, r.To))
		}
		if c.Followed {
			basis = append(basis, basisOf(b, c, made))
		}
	}
	return freshness{headerList(basis), headerList(missing)}
}

// basisOf formats a chain's member of Index-Basis: newest indexed block and its time, seconds since it was the chain's
// newest (stale: since its own time, as the chain's newest block is too old), first indexed block and its time, newest
// block confirmed by a second reading, whether a single endpoint reported the data, how many blocks are quarantined and
// the first of them, and whether the lag exceeds index.behind.
func basisOf(b order.Basis, c *order.ChainBasis, made time.Time) string {
	if !c.HasBegun() {
		return c.Chain.String() + ";block=0;behind"
	}
	text := fmt.Appendf(nil, "%s;block=%d;time=%d;lag=%d;from=%d", c.Chain, c.Indexed, c.IndexedTime, int64(c.Age(made)/time.Second), c.From.Number)
	if c.From.Number > 0 { // nothing precedes block 0, so its time does not matter
		text = fmt.Appendf(text, ";since=%d", c.From.Time)
	}
	switch {
	case c.Single:
		text = append(text, ";one-endpoint"...)
	case c.Proven > 0:
		text = fmt.Appendf(text, ";proven=%d", c.Proven)
	}
	if q := c.Quarantined; q.Count > 0 {
		text = fmt.Appendf(text, ";quarantined=%d;first-quarantined=%d", q.Count, q.First)
	}
	if c.Stale > 0 {
		text = append(text, ";stale"...)
	}
	if b.IsBehind(c, c.By(made)) {
		text = append(text, ";behind"...)
	}
	return string(text)
}

// headerList returns the value of a list header, nil for an empty list.
func headerList(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	return []string{strings.Join(list, ", ")}
}

func (f freshness) write(header http.Header) {
	if f.basis != nil {
		header[indexBasis] = f.basis
	}
	if f.unsearched != nil {
		header[orderUnsearched] = f.unsearched
	}
}
