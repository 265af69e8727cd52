package jsonrpc

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
)

// Each has every call of a request answered by itself, and writes the answers as the calls came: one, or a batch.
// answer gets a request with the one call, what that says, and how many came together. Of a batch the first answer
// with another status than 200 is that of all.
func Each(w http.ResponseWriter, r *http.Request, maxBytes int64, answer func(one *http.Request, call Request, calls int) *Recorder) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBytes))
	if err != nil {
		return // the client has gone, or learns it from the reader
	}
	var batch []json.RawMessage
	isBatch := json.Unmarshal(body, &batch) == nil
	if !isBatch {
		batch = []json.RawMessage{body}
	}
	answers := make([]json.RawMessage, len(batch))
	for i, each := range batch {
		var call Request
		_ = json.Unmarshal(each, &call) // a node refuses what is no call
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
