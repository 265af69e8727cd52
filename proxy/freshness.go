package proxy

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"crossgate/cache"
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

// Cache-Status values (RFC 9211).
var (
	statusStale        = []string{"crossgate; hit; detail=stale-while-revalidate"}
	statusStaleIfError = []string{"crossgate; fwd=stale; detail=stale-if-error"}
	statusPaused       = []string{"crossgate; hit; detail=stale-if-error"}
	statusMiss         = []string{"crossgate; fwd=miss"}
	statusStored       = []string{"crossgate; fwd=miss; stored"}
	statusShared       = []string{"crossgate; fwd=miss; collapsed"}
)

func ageOf(age time.Duration) []string { return []string{strconv.Itoa(int(max(age, 0) / time.Second))} }

func cacheStatus(found *cache.Result[answer]) []string {
	switch found.Outcome {
	case cache.Hit:
		return []string{"crossgate; hit; ttl=" + strconv.Itoa(int((found.Life.Fresh-found.Age)/time.Second))}
	case cache.Stale:
		return statusStale
	case cache.StaleIfError:
		if found.Failure == nil {
			return statusPaused
		}
		return statusStaleIfError
	case cache.Miss:
	}
	switch {
	case found.Shared:
		return statusShared
	case found.Life.Fresh > 0:
		return statusStored
	}
	return statusMiss
}

// cacheControl lets caches on the way to the client keep an answer as long as this cache does.
func cacheControl(life cache.Life) []string {
	if life.Fresh <= 0 {
		return noStore
	}
	var text strings.Builder
	text.WriteString("public")
	for _, each := range []struct {
		directive string
		span      time.Duration
	}{{"max-age", life.Fresh}, {"stale-while-revalidate", life.Stale}, {"stale-if-error", life.IfError}} {
		if each.span > 0 {
			text.WriteString(", " + each.directive + "=" + strconv.Itoa(int(each.span/time.Second)))
		}
	}
	return []string{text.String()}
}

// Lives of answers about orders. A final state that no reorg can undo never changes; other states may change with the
// next block, and unknown orders are polled. While chains are unreachable, an answer a few minutes old, with its Age,
// is better than none.
var (
	NoLife      = cache.Life{}
	UnknownLife = cache.Life{Fresh: time.Second}
	MovingLife  = cache.Life{Fresh: 2 * time.Second, Stale: 2 * time.Second, IfError: 5 * time.Minute}
	SettledLife = cache.Life{Fresh: time.Hour, Stale: time.Hour, IfError: 22 * time.Hour}
)
