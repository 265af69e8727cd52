package behaviour_test

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"sync/atomic"

	"crossgate/internal/rpctest"
)

// Player answers its case's question as recorded, and everything else with an error. It is safe for concurrent use.
type Player struct {
	of    Case
	asked atomic.Int64 // requests
}

func (p *Player) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	asked, err := rpctest.Read(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	p.asked.Add(1)
	isOther := func(c rpctest.Call) bool { return c.Method != p.of.Question.Method }
	answer := p.of.Answer
	if max(p.of.Question.Calls, 1) != len(asked.Calls) || slices.ContainsFunc(asked.Calls, isOther) {
		answer = Recorded{Body: `{"jsonrpc":"2.0","id":1,` + rpctest.Fault(-32601, "method not found") + `}`}
	}
	answer.write(w, r, asked.Calls)
}

// write answers calls with the recorded body under their IDs.
func (r Recorded) write(w http.ResponseWriter, request *http.Request, calls []rpctest.Call) {
	if r.Hangs {
		<-request.Context().Done()
		return
	}
	for name, value := range r.Header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(cmp.Or(r.Status, http.StatusOK))
	_, _ = w.Write(r.bodyFor(calls)) // fails only if the client has gone
}

// bodyFor returns the body with the IDs of calls. An object whose ID is missing or null keeps it that way.
func (r Recorded) bodyFor(calls []rpctest.Call) []byte {
	body := []byte(r.Body)
	var single map[string]json.RawMessage
	if json.Unmarshal(body, &single) == nil {
		if id := single["id"]; len(id) > 0 && string(id) != "null" {
			single["id"] = calls[0].ID
			body, _ = json.Marshal(single) // cannot fail: it was JSON a moment ago
		}
		return body
	}
	var several []map[string]json.RawMessage
	if json.Unmarshal(body, &several) != nil {
		return body
	}
	for i := range several {
		if i < len(calls) {
			several[i]["id"] = calls[i].ID
		}
	}
	body, _ = json.Marshal(several)
	return body
}
