package upstream_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/internal/must"
	"crossgate/internal/pooltest"
	"crossgate/upstream"
)

func TestEndpointClassesFailures(t *testing.T) {
	for _, test := range []struct {
		name    string
		answers pooltest.Transport
		want    upstream.Class
		status  int
		after   time.Duration
	}{
		{"connection broken", func(*http.Request) (*http.Response, error) { return nil, errors.New("connection reset") }, upstream.Unreachable, 0, 0},
		{"silent", pooltest.Silent, upstream.Timeout, 0, 0},
		{"internal error", pooltest.Always(500, "oops"), upstream.ServerError, 500, 0},
		{"draining", pooltest.Always(503, "", "Retry-After", "7"), upstream.ServerError, 503, 7 * time.Second},
		{"too many", pooltest.Always(429, "", "Retry-After", "3"), upstream.RateLimited, 429, 3 * time.Second},
		{"too many, by a slow clock", pooltest.Always(429, "", "Retry-After", "Mon, 30 Nov 2015 12:00:05 GMT", "Date", "Mon, 30 Nov 2015 12:00:00 GMT"), upstream.RateLimited, 429, 5 * time.Second},
		{"too many, nonsense for a time", pooltest.Always(429, "", "Retry-After", "soon"), upstream.RateLimited, 429, 0},
		{"redirect", pooltest.Always(302, "", "Location", "http://elsewhere.invalid/"), upstream.BadAnswer, 302, 0},
		{"endless", func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: io.NopCloser(neverEnding{})}, nil
		}, upstream.BadAnswer, 200, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := pooltest.Endpoint(t, "node", test.answers, upstream.EndpointOptions{MaxBody: 1000})
				_, err := e.Do(t.Context(), upstream.Request{})
				var got *upstream.Error
				if !errors.As(err, &got) {
					t.Fatalf("Do() = %v, want an *upstream.Error", err)
				}
				if got.Class != test.want || got.Status != test.status || got.RetryAfter != test.after || got.Endpoint != "node" || got.IsRefusal() {
					t.Errorf("Do() = %+v, want no refusal, class %v, status %d, retry after %v", got, test.want, test.status, test.after)
				}
			})
		})
	}
}

// TestPathsBelowAHostAlone uses a real server, which rejects request lines whose path does not begin with a slash.
func TestPathsBelowAHostAlone(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.RequestURI)
	}))
	defer server.Close()
	for base, want := range map[string]string{
		server.URL: "/v1/quote?a=1", server.URL + "/": "/v1/quote?a=1", server.URL + "/api": "/api/v1/quote?a=1",
	} {
		e := must.Get(upstream.NewEndpoint(upstream.EndpointOptions{Name: "venue", URL: base, Transport: server.Client().Transport}))(t)
		for _, path := range []string{"v1/quote", "/v1/quote"} {
			got, err := e.Do(t.Context(), upstream.Request{Path: path, Query: "a=1"})
			if err != nil || string(got.Body) != want {
				t.Errorf("Do(%s) below %q asked for %s, %v, want %s", path, strings.TrimPrefix(base, server.URL), got.Body, err, want)
			}
		}
		e.Close()
	}
}

func TestPlainServerOfAnEncryptedURLIsNamed(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	e := must.Get(upstream.NewEndpoint(upstream.EndpointOptions{Name: "node", URL: strings.Replace(server.URL, "http", "https", 1)}))(t)
	defer e.Close()
	if _, err := e.Do(t.Context(), upstream.Request{}); err == nil || !strings.Contains(err.Error(), http.ErrSchemeMismatch.Error()) {
		t.Errorf("Do() = %v, want %v", err, http.ErrSchemeMismatch)
	}
}

// neverEnding is a body that never ends.
type neverEnding struct{}

func (neverEnding) Read(p []byte) (int, error) { return len(p), nil }

func TestEndpointReturnsWhatTheCallerCanRead(t *testing.T) {
	for _, status := range []int{200, 201, 400, 403, 404, 422} {
		e := pooltest.Endpoint(t, "venue", pooltest.Always(status, `{"key":"K3Y-0f-ours"}`))
		want := `{"key":"K3Y-0f-ours"}`
		if status >= 400 { // error responses may quote the key that was sent
			want = `{"key":"venue"}`
		}
		got, err := e.Do(t.Context(), upstream.Request{Keys: []string{"K3Y-0f-ours"}})
		if err != nil || got.Status != status || string(got.Body) != want {
			t.Errorf("Do() with status %d = %+v, %v, want %s", status, got, err, want)
		}
	}
}

func TestEndpointBuildsRequests(t *testing.T) {
	var got *http.Request
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
	}))
	defer server.Close()
	e := must.Get(upstream.NewEndpoint(upstream.EndpointOptions{
		Name: "venue", URL: strings.Replace(server.URL, "://", "://user:word@", 1) + "/v1/?key=k", Header: http.Header{"X-Api-Key": {"s"}}, Transport: server.Client().Transport,
	}))(t)
	must.Get(e.Do(t.Context(), upstream.Request{Path: "quote/best", Query: "a=1+2", Body: []byte("{}")}))(t)
	if got.Method != "POST" || got.URL.Path != "/v1/quote/best" || got.URL.RawQuery != "a=1+2&key=k" || string(body) != "{}" {
		t.Errorf("sent %s %s with %q", got.Method, got.URL, body)
	}
	user, password, _ := got.BasicAuth()
	if user != "user" || password != "word" || got.Header.Get("X-Api-Key") != "s" || got.Header.Get("Traceparent") != "" {
		t.Errorf("sent headers %v", got.Header)
	}
}

func TestEndpointTellsCancelFromTimeout(t *testing.T) {
	e := pooltest.Endpoint(t, "node", pooltest.Silent)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(time.Millisecond, cancel)
	_, err := e.Do(ctx, upstream.Request{})
	if got, is := errors.AsType[*upstream.Error](err); !is || got.Class != upstream.Canceled || !errors.Is(err, context.Canceled) {
		t.Errorf("Do() of a caller who left = %v, want it classed as canceled", err)
	}
}
