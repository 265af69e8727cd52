// Package behaviour is the book of what JSON-RPC providers really answer when they refuse, limit or forget: each case
// with its question, the answer to the letter, and what it means. The book (book.json) is what the client of package
// jsonrpc is held against.
//
// Statuses and bodies are facts about others' services, with their source and date. A status of zero is not known.
package behaviour_test

import (
	_ "embed"
	"encoding/json"
)

//go:embed book.json
var book []byte

// Case is one behaviour of a provider.
type Case struct {
	ID       string   `json:"id"`
	Provider string   `json:"provider,omitempty"`
	Chains   []string `json:"chains,omitempty"` // native ids, or "any", "any EVM", "solana", "tron"
	Question Question `json:"question"`
	Answer   Recorded `json:"answer"`
	// Means is a jsonrpc.Meaning in words; "answer" for a result, and "false claim" for one that is not to be believed
	// without another endpoint's word.
	Means    string  `json:"means"`
	Learns   *Learns `json:"learns,omitempty"`
	Evidence string  `json:"evidence,omitempty"` // sure, likely or unsure
	Source   string  `json:"source,omitempty"`
	Seen     string  `json:"seen,omitempty"` // date, year-month-day as far as known
}

// Question is what was asked: one call, or several alike in a batch.
type Question struct {
	Method string          `json:"method"`
	Params json.RawMessage `json:"params,omitempty"` // absent where any would do
	Blocks uint64          `json:"blocks,omitempty"` // that a search spans
	Depth  uint64          `json:"depth,omitempty"`  // of the oldest block that is read, before the newest
	Tag    string          `json:"tag,omitempty"`    // by which a block is named
	Field  string          `json:"field,omitempty"`  // of the parameters, one that some nodes do not take
	Calls  int             `json:"calls,omitempty"`  // in one request, if not one
}

// Recorded is an HTTP response.
type Recorded struct {
	Status int               `json:"status"`
	Header map[string]string `json:"header,omitempty"`
	Body   string            `json:"body"`
	Hangs  bool              `json:"hangs,omitempty"` // no answer ever comes
}

// Learns is what the answer tells of the endpoint.
type Learns struct {
	Span  uint64  `json:"span,omitempty"`  // blocks of a search
	Calls uint64  `json:"calls,omitempty"` // of a batch
	Wait  float64 `json:"wait,omitempty"`  // seconds until the endpoint may be asked again
	Floor uint64  `json:"floor,omitempty"` // oldest block that it keeps
	Pace  bool    `json:"pace,omitempty"`  // calls of the method are too many, others are not
}

// Book returns the cases of the book.
func Book() []Case {
	var cases []Case
	if err := json.Unmarshal(book, &cases); err != nil {
		panic("behaviour: book.json: " + err.Error())
	}
	return cases
}
