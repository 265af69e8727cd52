package proxy

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/index"
)

// Headers that tell how fresh an answer from the order index is (docs/decisions/0008-order-index.md). Their
// values are structured fields (RFC 9651): lists of chain ids, the first with parameters.
const (
	indexHead   = "X-Index-Head"
	indexLag    = "X-Index-Lag"
	indexBehind = "X-Index-Behind"
)

// freshness is how far the chains that an answer is about had been indexed when it was made.
type freshness struct {
	head   []string // newest indexed block and its time, and how long ago it was the chain's newest, per chain
	lag    []string // the longest of these lags, seconds; nil when nothing was read of a chain
	behind []string // chains with more lag than is usual; nil when there are none
}

// freshnessOf tells of the chains concerned; of all chains when none are named. behind is the lag from which
// a chain is pointed out.
func freshnessOf(lags map[chain.ID]index.Lag, concerned []chain.ID, behind time.Duration, now time.Time) freshness {
	if len(concerned) == 0 {
		concerned = slices.Collect(maps.Keys(lags))
	}
	concerned = slices.Clone(concerned)
	slices.Sort(concerned)
	var heads, late []string
	longest, unread := time.Duration(0), false
	for _, id := range slices.Compact(concerned) {
		lag, followed := lags[id]
		switch {
		case !followed:
			continue
		case lag.IndexedTime == 0 && lag.Level.IsZero(): // nothing was read yet
			heads = append(heads, id.String()+";block=0")
			unread = true
			late = append(late, id.String())
			continue
		}
		by := lag.By(now)
		heads = append(heads, fmt.Sprintf("%s;block=%d;time=%d;lag=%d", id, lag.Indexed, lag.IndexedTime, int64(by/time.Second)))
		longest = max(longest, by)
		if by > behind {
			late = append(late, id.String())
		}
	}
	if len(heads) == 0 {
		return freshness{}
	}
	f := freshness{head: []string{strings.Join(heads, ", ")}}
	if !unread {
		f.lag = []string{strconv.FormatInt(int64(longest/time.Second), 10)}
	}
	if len(late) > 0 {
		f.behind = []string{strings.Join(late, ", ")}
	}
	return f
}

func (f freshness) write(header http.Header) {
	if f.head == nil {
		return
	}
	header[indexHead] = f.head
	if f.lag != nil {
		header[indexLag] = f.lag
	}
	if f.behind != nil {
		header[indexBehind] = f.behind
	}
}

// chainsOf are those that an order is about.
func chainsOf(o *order.Order) []chain.ID { return []chain.ID{o.Terms.Give.Chain, o.Terms.Take.Chain} }
