// Package behaviour is the book of the real answers of JSON-RPC providers that refuse, limit or forget: each case has
// its question, the verbatim answer, and the meaning. The client of package jsonrpc is tested against the book
// (book.json).
//
// Statuses and bodies are facts about third-party services, with their source and date. A status of zero is unknown.
package behaviour_test

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"net/http"
	"slices"
	"sync/atomic"

	"crossgate/internal/rpctest"
)

//go:embed book.json
var book []byte

// Case is one behaviour of a provider.
type Case struct {
	ID       string   `json:"id"`
	Provider string   `json:"provider,omitempty"`
	Chains   []string `json:"chains,omitempty"` // native IDs, or "any", "any EVM", "solana", "tron"
	Question Question `json:"question"`
	Answer   Recorded `json:"answer"`
	// Means is a jsonrpc.Meaning; or "answer" for a result, or "false claim" for one that is not believed unless
	// another endpoint confirms it.
	Means    string  `json:"means"`
	Learns   *Learns `json:"learns,omitempty"`
	Evidence string  `json:"evidence,omitempty"` // sure, likely or unsure
	Source   string  `json:"source,omitempty"`
	Seen     string  `json:"seen,omitempty"` // date, year-month-day as far as known
}

// Question is the request: one call, or several alike in a batch.
type Question struct {
	Method string `json:"method"`
	Blocks uint64 `json:"blocks,omitempty"` // spanned by a search
	Depth  uint64 `json:"depth,omitempty"`  // of the oldest block read, below the newest
	Tag    string `json:"tag,omitempty"`    // that identifies a block
	Field  string `json:"field,omitempty"`  // parameter that some nodes do not accept
	Calls  int    `json:"calls,omitempty"`  // in one request; zero means one
}

// Recorded is an HTTP response.
type Recorded struct {
	Status int               `json:"status"`
	Header map[string]string `json:"header,omitempty"`
	Body   string            `json:"body"`
	Hangs  bool              `json:"hangs,omitempty"` // no answer ever comes
}

// Learns is the information about an endpoint that an answer carries.
type Learns struct {
	Span  uint64  `json:"span,omitempty"`  // most blocks of a search
	Calls uint64  `json:"calls,omitempty"` // most calls of a batch
	Wait  float64 `json:"wait,omitempty"`  // seconds until the next request is allowed
	Floor uint64  `json:"floor,omitempty"` // oldest block available
	Pace  bool    `json:"pace,omitempty"`  // calls of this method are too frequent, those of others are not
}

// Book returns the cases of the book.
func Book() []Case {
	var cases []Case
	if err := json.Unmarshal(book, &cases); err != nil {
		panic("behaviour: book.json: " + err.Error())
	}
	return cases
}

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
