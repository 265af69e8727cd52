package gateway

import (
	"fmt"
	"maps"
	"slices"

	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

// limitsInWords says what an endpoint of a chain's pool was found not to do; nothing for other pools.
func (p *parts) limitsInWords(pool *upstream.Pool, endpoint string) []string {
	for _, each := range p.chains {
		if each.pool == pool {
			known := each.rpc.Capabilities(endpoint).Known()
			return LimitsInWords(known)
		}
	}
	return nil
}

// LimitsInWords spells out the limits of an endpoint.
func LimitsInWords(known jsonrpc.Limits) (words []string) {
	say := func(form string, n uint64) {
		if n > 0 {
			words = append(words, fmt.Sprintf(form, n))
		}
	}
	say("searches %d blocks", known.Span)
	say("takes %d calls at once", known.Batch)
	for _, part := range slices.Sorted(maps.Keys(known.Depths)) {
		words = append(words, fmt.Sprintf("%s: newest %d", part, known.Depths[part]))
	}
	for _, what := range known.Lacks {
		words = append(words, "no "+what)
	}
	return words
}
