package proxy_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"crossgate/internal/must"
	"crossgate/proxy"
)

// do sends a request with header lines of the form "Name: value".
func do(s *site, method, target string, headers ...string) *http.Response {
	r := httptest.NewRequest(method, target, http.NoBody)
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Add(name, value)
	}
	return serve(s, r)
}

func serve(s *site, r *http.Request) *http.Response {
	recorder := httptest.NewRecorder()
	s.Handler().ServeHTTP(recorder, r)
	response := recorder.Result()
	if t, known := servedBy.Load(s); known {
		checkDocumented(t.(*testing.T), r, response, recorder.Body.Bytes())
	}
	return response
}

func get(s *site, target string, headers ...string) *http.Response {
	return do(s, http.MethodGet, target, headers...)
}

// body reads a response to its end and closes it.
func body(t testing.TB, response *http.Response) []byte {
	t.Helper()
	raw := must.Get(io.ReadAll(response.Body))(t)
	must.Do(t, response.Body.Close())
	return raw
}

// wantStatus requires the status of a response.
func wantStatus(t testing.TB, what string, response *http.Response, status int) {
	t.Helper()
	if response.StatusCode != status {
		t.Errorf("%s: HTTP %d, want %d: %.300s", what, response.StatusCode, status, body(t, response))
	}
}

// errorBody is an error as clients of either API decode it.
type errorBody struct {
	ErrorCode    int    `json:"errorCode"`
	ErrorID      string `json:"errorId"`
	Message      string `json:"message"`
	ErrorMessage string `json:"errorMessage"`
	ReqID        string `json:"reqId"`
}

// wantError requires an error of a kind and returns its body.
func wantError(t testing.TB, response *http.Response, status int, id string) errorBody {
	t.Helper()
	e := problemIn(t, response)
	if response.StatusCode != status || e.ErrorID != id {
		t.Fatalf("HTTP %d %+v, want %d %s", response.StatusCode, e, status, id)
	}
	return e
}

// problemIn returns an error and checks what holds for every error.
func problemIn(t testing.TB, response *http.Response) (e errorBody) {
	t.Helper()
	raw, status := body(t, response), response.StatusCode
	if err := json.Unmarshal(raw, &e); err != nil {
		t.Fatalf("error body %q: %v", raw, err)
	}
	if allow := response.Header.Get("Allow"); (allow != "") != (status == http.StatusMethodNotAllowed) {
		t.Errorf("HTTP %d with Allow %q", status, allow)
	}
	if e.Message == "" || e.Message != e.ErrorMessage || e.ErrorCode == 0 || e.ReqID == "" || e.ReqID != response.Header.Get("X-Request-Id") {
		t.Errorf("incomplete error %s", raw)
	}
	if got := response.Header.Get("Content-Type"); got != "application/json; charset=utf-8" {
		t.Errorf("Content-Type = %q", got)
	}
	if got := response.Header.Get("Cache-Control"); got != "no-store" && !(got == "public, max-age=1" && status < 500) {
		t.Errorf("Cache-Control = %q, want no-store, or a second where the answer may change", got)
	}
	if retry := response.Header.Get("Retry-After"); (retry != "") != proxy.IsRetryable(status) {
		t.Errorf("HTTP %d with Retry-After %q", status, retry)
	}
	return e
}
