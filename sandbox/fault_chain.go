package sandbox

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"

	"crossgate/sandbox/jsonrpc"
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
	truth := jsonrpc.Record(next, r)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(truth.Status)
	_, _ = w.Write(claimChain(truth.Body.Bytes(), asked))
}

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
