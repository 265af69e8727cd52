package jsonrpc

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
)

// Each answers every call of a request separately and writes the responses in the order of the calls, as one or a
// batch. answer gets a request with only that call, the call decoded, and the number of calls in all. The first
// response whose status is not 200 becomes the response to the whole batch.
func Each(w http.ResponseWriter, r *http.Request, maxBytes int64, answer func(one *http.Request, call Request, calls int) *Recorder) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBytes))
	if err != nil {
		return // the client has gone, or MaxBytesReader has answered
	}
	var batch []json.RawMessage
	isBatch := json.Unmarshal(body, &batch) == nil
	if !isBatch {
		batch = []json.RawMessage{body}
	}
	answers := make([]json.RawMessage, len(batch))
	for i, each := range batch {
		var call Request
		_ = json.Unmarshal(each, &call) // a node refuses malformed calls itself
		one := r.Clone(r.Context())
		one.Body, one.ContentLength = io.NopCloser(bytes.NewReader(each)), int64(len(each))
		told := answer(one, call, len(batch))
		if answers[i] = bytes.TrimSpace(told.Body.Bytes()); !isBatch || told.Status != http.StatusOK {
			w.Header().Set("Content-Type", told.Header().Get("Content-Type"))
			w.WriteHeader(told.Status)
			_, _ = w.Write(answers[i]) // the client has gone
			return
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answers) // the client has gone
}
