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
	calls, _ := rpcObjects(body)
	asked := map[string]bool{} // by id of the call
	for _, call := range calls {
		if string(call["method"]) == `"eth_chainId"` {
			asked[string(call["id"])] = true
		}
	}
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

// rpcObjects reads the requests or responses of a JSON-RPC body: a batch, or a single one.
func rpcObjects(body []byte) (objects []map[string]json.RawMessage, isBatch bool) {
	if json.Unmarshal(body, &objects) == nil {
		return objects, true
	}
	objects = make([]map[string]json.RawMessage, 1)
	_ = json.Unmarshal(body, &objects[0]) // what is neither has no members
	return objects, false
}

// claimChain puts the strange chain id into the answers to calls with the ids asked.
func claimChain(body []byte, asked map[string]bool) []byte {
	objects, isBatch := rpcObjects(body)
	for _, object := range objects {
		if asked[string(object["id"])] {
			object["result"] = json.RawMessage(`"` + strangeChainID + `"`)
		}
	}
	var claimed any = objects
	if !isBatch {
		claimed = objects[0]
	}
	text, err := json.Marshal(claimed)
	if err != nil {
		return body
	}
	return text
}
