package gateway

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"crossgate/upstream"
)

// trioRequest is a request that a node was asked, as far as it says who could have answered it.
type trioRequest struct {
	at     time.Time
	widest uint64 // blocks that a search in it spans; zero: it has none
	deep   uint64 // blocks before the newest that the oldest search in it begins
}

// look takes note of a call of the request, which comes at a head.
func (r *trioRequest) look(method string, params []json.RawMessage, head uint64) {
	var filter struct {
		From json.RawMessage `json:"fromBlock"`
		To   json.RawMessage `json:"toBlock"`
	}
	if method != "eth_getLogs" || json.Unmarshal(params[0], &filter) != nil || filter.From == nil {
		return
	}
	from, to := number(filter.From), number(filter.To)
	r.widest, r.deep = max(r.widest, to-from+1), max(r.deep, head-min(from, head))
}

// could reports whether a node would have answered a request.
func (n *trioNode) could(r trioRequest) bool {
	return r.widest == 0 || r.widest <= n.span && (n.depth == 0 || r.deep <= n.depth)
}

// held is a moment at which calls waited for the rate of an endpoint.
type held struct {
	at   time.Time
	busy int // of the nodes
}

// lookForHeld adds the endpoints that calls wait for now; those of nodes have names that end in their number.
func lookForHeld(found []held, endpoints []*upstream.Endpoint) []held {
	for _, e := range endpoints {
		if left := e.Health().Left; left < 0 {
			name := e.Name()
			found = append(found, held{time.Now(), int(name[len(name)-1] - '0')})
		}
	}
	return found
}

// checkNobodyIdle wants that whenever a call waited for an endpoint's rate, no other that could have answered it was left
// unused: neither in the second before nor in the one after.
func checkNobodyIdle(t *testing.T, nodes []*trioNode, moments []held) {
	t.Helper()
	isUsed := func(n *trioNode, at time.Time) bool {
		return slices.ContainsFunc(n.log, func(r trioRequest) bool { return r.at.Sub(at).Abs() <= time.Second })
	}
	for _, each := range moments {
		next := slices.IndexFunc(nodes[each.busy].log, func(r trioRequest) bool { return r.at.After(each.at) })
		if next < 0 {
			continue // whoever waited has left
		}
		for i, idle := range nodes {
			if waited := nodes[each.busy].log[next]; i != each.busy && idle.could(waited) && !isUsed(idle, each.at) {
				t.Errorf("at %v node %d is idle while a request for %d blocks, %d deep, waits for node %d", each.at, i, waited.widest, waited.deep, each.busy)
			}
		}
	}
}
