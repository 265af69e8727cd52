package sandbox

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
)

// answerAsOtherChain answers truly but for the chain id.
func answerAsOtherChain(w http.ResponseWriter, r *http.Request, next http.Handler) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequestBytes))
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	asked := chainQuestions(body)
	if len(asked) == 0 {
		next.ServeHTTP(w, r)
		return
	}
	truth := &heard{header: http.Header{}, status: http.StatusOK}
	next.ServeHTTP(truth, r)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(truth.status)
	_, _ = w.Write(claimChain(truth.body.Bytes(), asked))
}

// heard is an answer on its way.
type heard struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (h *heard) Header() http.Header            { return h.header }
func (h *heard) WriteHeader(status int)         { h.status = status }
func (h *heard) Write(part []byte) (int, error) { return h.body.Write(part) }

// chainQuestions returns the ids of the calls that ask for the chain id.
func chainQuestions(body []byte) map[string]bool {
	type call struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	calls := make([]call, 1)
	if json.Unmarshal(body, &calls) != nil {
		_ = json.Unmarshal(body, &calls[0]) // a single call, or nothing that asks
	}
	asked := map[string]bool{}
	for _, c := range calls {
		if c.Method == "eth_chainId" {
			asked[string(c.ID)] = true
		}
	}
	return asked
}

// claimChain puts the strange chain id into the answers to calls with the ids asked.
func claimChain(body []byte, asked map[string]bool) []byte {
	var objects []map[string]json.RawMessage
	batch := json.Unmarshal(body, &objects) == nil
	if !batch {
		objects = make([]map[string]json.RawMessage, 1)
		if json.Unmarshal(body, &objects[0]) != nil {
			return body
		}
	}
	for _, object := range objects {
		if asked[string(object["id"])] {
			object["result"] = json.RawMessage(`"` + strangeChainID + `"`)
		}
	}
	var claimed any = objects
	if !batch {
		claimed = objects[0]
	}
	text, err := json.Marshal(claimed)
	if err != nil {
		return body
	}
	return text
}
