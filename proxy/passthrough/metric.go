package passthrough

import (
	"sync/atomic"
)

// disposition is the outcome of a request.
type disposition uint8

const (
	unanswered disposition = iota // the client left
	hit
	stale
	staleIfError
	validated
	miss
	collapsed // answered with the response to another's request
	passed
	refused
	failed
	outcomes
)

// outcomeNames are published as metric labels.
var outcomeNames = [outcomes]string{
	"left", "hit", "stale", "stale-if-error", "validated", "miss", "collapsed", "pass", "refused", "failed",
}

type tally [outcomes]atomic.Int64

// EachCount calls do with how often requests to each configured host had an outcome since the start: hit, stale,
// stale-if-error, validated, miss, collapsed, pass, refused, failed or left.
func (h *Handler) EachCount(do func(host, outcome string, times uint64)) {
	for _, host := range h.hosts.Load().all {
		for i := range host.tally {
			if times := host.tally[i].Load(); times > 0 {
				do(host.Name, outcomeNames[i], uint64(times))
			}
		}
	}
}
