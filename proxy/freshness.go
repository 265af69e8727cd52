package proxy

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"crossgate/chain"
	"crossgate/order/index"
)

// Headers that show how fresh an answer from the order index is, and how much of the chains it covers
// (docs/decisions/0008-order-index.md). Their values are structured fields (RFC 9651): lists of chain ids, most with
// parameters.
const (
	indexHead        = "X-Index-Head"
	indexLag         = "X-Index-Lag"
	indexBehind      = "X-Index-Behind"
	indexFrom        = "X-Index-From"
	indexProven      = "X-Index-Proven"
	indexQuarantined = "X-Index-Quarantined"
	orderUnsearched  = "X-Order-Unsearched"
)

// chainsUnheard is the header with the chains that could know what was not found, and did not answer: a list of
// chain ids (RFC 9651).
const chainsUnheard = "X-Chains-Unheard"

func unheardValue(chains []chain.ID) []string { return []string{joined(chains)} }

// freshness is a basis as headers. A header that has nothing to say is nil.
type freshness struct {
	// Newest indexed block and its time, how long ago it was the chain's newest, and whether the chain's newest block
	// is too old to say so, per chain.
	head        []string
	lag         []string // the longest of these lags, seconds; nil when nothing was read of a chain
	behind      []string // chains with more lag than is usual
	from        []string // first indexed block and its time, per chain of which anything was read
	proven      []string // newest block up to which a second reading confirms the first, per chain that has one
	quarantined []string // how many blocks are left out, and the first of them, per chain that has any
	unsearched  []string // first and last of the blocks that may hold more of an order and could not be searched, per chain
}

// freshnessOf shows the basis of an answer as it was when the answer was made.
func freshnessOf(b index.Basis, made time.Time) freshness {
	var heads, late, begins, proofs, gaps, missing []string
	longest, isKnown := time.Duration(0), true
	for i := range b.Chains {
		c := &b.Chains[i]
		id, by, stale := c.Chain.String(), c.Age(made), ""
		if c.Stale > 0 {
			stale = ";stale"
		}
		if r := c.Unsearched; r.To > 0 {
			missing = append(missing, fmt.Sprintf("%s;first=%d;last=%d", id, r.From, r.To))
		}
		switch {
		case !c.Followed:
			continue
		case !c.HasBegun():
			heads, late, isKnown = append(heads, id+";block=0"), append(late, id), false
			continue
		}
		heads = append(heads, fmt.Sprintf("%s;block=%d;time=%d;lag=%d%s", id, c.Indexed, c.IndexedTime, int64(by/time.Second), stale))
		begins = append(begins, beginning(id, c.From))
		if c.Proven > 0 {
			proofs = append(proofs, fmt.Sprintf("%s;block=%d", id, c.Proven))
		}
		if q := c.Quarantined; q.Count > 0 {
			gaps = append(gaps, fmt.Sprintf("%s;blocks=%d;first=%d", id, q.Count, q.First))
		}
		longest = max(longest, by)
		if b.IsBehind(c, c.By(made)) {
			late = append(late, id)
		}
	}
	f := freshness{
		head: headerList(heads), behind: headerList(late), from: headerList(begins), proven: headerList(proofs), quarantined: headerList(gaps),
		unsearched: headerList(missing),
	}
	if isKnown && f.head != nil {
		f.lag = []string{strconv.FormatInt(int64(longest/time.Second), 10)}
	}
	return f
}

// beginning is where a chain's history begins; block 0 has no time, since nothing is before it.
func beginning(id string, from index.BlockTime) string {
	if from.Number == 0 {
		return id + ";block=0"
	}
	return fmt.Sprintf("%s;block=%d;time=%d", id, from.Number, from.Time)
}

// headerList is the value of a header that lists something, nil when that is nothing.
func headerList(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	return []string{strings.Join(list, ", ")}
}

func (f freshness) write(header http.Header) {
	for _, each := range [...]struct {
		name  string
		value []string
	}{
		{indexHead, f.head},
		{indexLag, f.lag},
		{indexBehind, f.behind},
		{indexFrom, f.from},
		{indexProven, f.proven},
		{indexQuarantined, f.quarantined},
		{orderUnsearched, f.unsearched},
	} {
		if each.value != nil {
			header[each.name] = each.value
		}
	}
}
