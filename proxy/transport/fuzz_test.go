package transport

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"testing"
	"time"
)

// FuzzRequest sends any bytes to this server and to net/http's. Where both answer they must have understood the same,
// and nothing that net/http refuses may be answered, but for targets that cannot be decoded.
func FuzzRequest(f *testing.F) {
	for _, sent := range requests {
		f.Add([]byte(sent))
	}
	_, ours := serving(f, tell)
	theirs := reference(f, tell)
	f.Fuzz(func(t *testing.T, sent []byte) {
		if !bytes.Contains(sent, []byte("\r\n\r\n")) {
			return // neither would answer
		}
		sent = bytes.TrimLeft(sent, "\r\n")  // which fasthttp ignores, as RFC 9112 section 2.2 wants it
		const moment = 20 * time.Millisecond // what waits for more bytes is of no interest
		status, _, got, err := exchange(ours, sent, moment)
		if err != nil || status != http.StatusOK {
			return
		}
		var ofOurs told
		if err := json.Unmarshal(got, &ofOurs); err != nil {
			t.Fatal(err)
		}
		if _, err := url.ParseRequestURI(ofOurs.Target); err != nil {
			return // which is for the handler to say
		}
		wantStatus, _, want, err := exchange(theirs, sent, patience)
		if err != nil || wantStatus != status || !bytes.Equal(got, want) {
			t.Errorf("%q:\n%d %s\nnet/http:\n%d %s (%v)", sent, status, got, wantStatus, want, err)
		}
	})
}
