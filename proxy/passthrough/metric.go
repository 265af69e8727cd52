package passthrough

import (
	"sync/atomic"
)

// disposition is what became of a request.
type disposition uint8

const (
	unanswered disposition = iota // the client left
	hit
	stale
	staleIfError
	validated
	miss
	collapsed // answered by the response to another's request
	passed
	refused
	failed
	outcomes
)

// outcomeNames are published: labels of measurements.
var outcomeNames = [outcomes]string{
	"left", "hit", "stale", "stale-if-error", "validated", "miss", "collapsed", "pass", "refused", "failed",
}

// tally counts the outcomes of a host.
type tally [outcomes]atomic.Int64

// Count is how often requests to a host had an outcome.
type Count struct {
	Of      string // host
	Outcome string // hit, stale, stale-if-error, validated, miss, collapsed, pass, refused, failed or left
	Times   uint64
}

// Counts are what requests to the configured hosts have met with since the start.
func (h *Handler) Counts() []Count {
	var all []Count
	for _, host := range h.hosts.Load().all {
		for i := range host.tally {
			if times := host.tally[i].Load(); times > 0 {
				all = append(all, Count{host.Name, outcomeNames[i], uint64(times)})
			}
		}
	}
	return all
}
