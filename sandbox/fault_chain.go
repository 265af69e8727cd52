package sandbox

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"

	"crossgate/sandbox/jsonrpc"
)

// answerAsOtherChain answers truthfully except for the chain ID.
func answerAsOtherChain(w http.ResponseWriter, r *http.Request, next http.Handler) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequestBytes))
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	calls, _ := rpcObjects(body)
	asked := map[string]bool{} // by the call's ID
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

// rpcObjects decodes the requests or responses of a JSON-RPC body, either a batch or a single one.
func rpcObjects(body []byte) (objects []map[string]json.RawMessage, isBatch bool) {
	if json.Unmarshal(body, &objects) == nil {
		return objects, true
	}
	objects = make([]map[string]json.RawMessage, 1)
	_ = json.Unmarshal(body, &objects[0]) // anything else decodes to no members
	return objects, false
}

// claimChain writes the strange chain ID into the responses with the given IDs.
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
