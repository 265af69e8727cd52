package behaviour_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"sync"
)

// mostAsked limits the size of a request to a Player, in bytes.
const mostAsked = 5 << 20

// Player replays recorded answers. A request is answered by the cases with its method and number of calls, and with its
// parameters if the case has any: one after the other in recorded order, then always by the last. It is safe for
// concurrent use.
type Player struct {
	cases []Case

	mu     sync.Mutex
	played map[int]bool
	asked  int
}

// NewPlayer returns a player of cases.
func NewPlayer(cases []Case) *Player { return &Player{cases: cases, played: make(map[int]bool)} }

// Asked returns how many requests were made.
func (p *Player) Asked() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked
}

// call is the part of a call that a Player reads.
type call struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

func (p *Player) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostAsked))
	if err != nil {
		return
	}
	var calls []call
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) {
		err = json.Unmarshal(body, &calls)
	} else {
		calls = make([]call, 1)
		err = json.Unmarshal(body, &calls[0])
	}
	if err != nil || len(calls) == 0 {
		http.Error(w, "not a JSON-RPC request", http.StatusBadRequest)
		return
	}
	answer, found := p.find(calls)
	if !found {
		answer = Recorded{Status: http.StatusOK, Body: `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"method not found: nothing like it was recorded"}}`}
	}
	answer.write(w, r, calls)
}

// find chooses the answer.
func (p *Player) find(calls []call) (Recorded, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked++
	last := -1
	for i, each := range p.cases {
		if !each.Question.isAskedBy(calls) {
			continue
		}
		last = i
		if !p.played[i] {
			p.played[i] = true
			break
		}
	}
	if last < 0 {
		return Recorded{}, false
	}
	return p.cases[last].Answer, true
}

// isAskedBy reports whether calls match the question.
func (q Question) isAskedBy(calls []call) bool {
	if max(q.Calls, 1) != len(calls) || slices.ContainsFunc(calls, func(each call) bool { return each.Method != q.Method }) {
		return false
	}
	return len(q.Params) == 0 || isSameJSON(q.Params, calls[0].Params)
}

func isSameJSON(a, b json.RawMessage) bool {
	var first, second bytes.Buffer
	if json.Compact(&first, a) != nil || json.Compact(&second, b) != nil {
		return false
	}
	return bytes.Equal(first.Bytes(), second.Bytes())
}

// write answers calls with the recorded body under their IDs.
func (r Recorded) write(w http.ResponseWriter, request *http.Request, calls []call) {
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
func (r Recorded) bodyFor(calls []call) []byte {
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
