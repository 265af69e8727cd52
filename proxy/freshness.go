package proxy

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"crossgate/order/index"
)

// Headers that show how fresh an answer from the order index is (docs/decisions/0008-order-index.md). Their
// values are structured fields (RFC 9651): lists of chain ids, the first with parameters.
const (
	indexHead   = "X-Index-Head"
	indexLag    = "X-Index-Lag"
	indexBehind = "X-Index-Behind"
)

// freshness is a basis as headers.
type freshness struct {
	head   []string // newest indexed block and its time, and how long ago it was the chain's newest, per chain
	lag    []string // the longest of these lags, seconds; nil when nothing was read of a chain
	behind []string // chains with more lag than is usual; nil when there are none
}

// freshnessOf shows the basis of an answer as it was when the answer was made.
func freshnessOf(b index.Basis, made time.Time) freshness {
	var heads, late []string
	longest, isKnown := time.Duration(0), true
	for i := range b.Chains {
		c := &b.Chains[i]
		id, by := c.Chain.String(), c.By(made)
		switch {
		case !c.Followed:
			continue
		case !c.HasBegun():
			heads, late, isKnown = append(heads, id+";block=0"), append(late, id), false
			continue
		}
		heads = append(heads, fmt.Sprintf("%s;block=%d;time=%d;lag=%d", id, c.Indexed, c.IndexedTime, int64(by/time.Second)))
		longest = max(longest, by)
		if by > b.Behind {
			late = append(late, id)
		}
	}
	if len(heads) == 0 {
		return freshness{}
	}
	f := freshness{head: []string{strings.Join(heads, ", ")}}
	if isKnown {
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
