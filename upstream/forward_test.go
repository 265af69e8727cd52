package upstream_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/internal/golden"
	"crossgate/internal/must"
	"crossgate/internal/pooltest"
	"crossgate/upstream"
)

// origin returns an endpoint for a server on loopback.
func origin(t *testing.T, path string, header http.Header, answer http.HandlerFunc) *upstream.Endpoint {
	t.Helper()
	return pooltest.Serve(t, "origin", answer, upstream.EndpointOptions{URL: path, Header: header, Timeout: time.Minute, Forwards: true})
}

func TestForwardedRequestsArriveAsTheyAre(t *testing.T) {
	type heard struct {
		Method, URI, Host, Body string
		Header, Trailer         http.Header
	}
	var got heard
	e := origin(t, "/base/?k=1", http.Header{"X-Key": {"ours"}}, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = heard{r.Method, r.RequestURI, r.Host, string(body), r.Header, r.Trailer}
		w.Header().Set("Link", "</a>")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Set("Content-Encoding", "gzip")
		w.WriteHeader(299)
		_, _ = io.WriteString(w, "as it is")
	})
	var informed []int
	response := must.Get(upstream.NewPool("pool", e).Forward(t.Context(), upstream.Forward{
		Method: "M-SEARCH", Path: "/a%2Fb//c", RawQuery: "x=%20&y", Host: "client.example",
		Header: http.Header{"X-Key": {"theirs"}, "A": {"1", "2"}, "User-Agent": {""}},
		Body:   io.MultiReader(strings.NewReader("in "), strings.NewReader("parts")), ContentLength: -1, Trailer: http.Header{"Sum": {"9"}},
		Inform: func(status int, header http.Header) { informed = append(informed, status, len(header["Link"])) },
	}))(t)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != 299 || string(body) != "as it is" || response.Header.Get("Content-Encoding") != "gzip" {
		t.Errorf("%d %v %q, %v", response.StatusCode, response.Header, body, err)
	}
	want := heard{
		"M-SEARCH", "/base/a%2Fb//c?k=1&x=%20&y", "client.example", "in parts",
		http.Header{"X-Key": {"ours"}, "A": {"1", "2"}},
		http.Header{"Sum": {"9"}},
	}
	golden.Same(t, "the request", want, got)
	golden.Same(t, "interim responses", []int{http.StatusEarlyHints, 1}, informed)
}

// TestUserOfAnOriginIsThatOfClientsWithoutTheirOwn: an Authorization header takes precedence over the URL's user.
func TestUserOfAnOriginIsThatOfClientsWithoutTheirOwn(t *testing.T) {
	var got http.Header
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header }))
	defer server.Close()
	e := pooltest.Endpoint(t, "origin", nil, upstream.EndpointOptions{
		URL: strings.Replace(server.URL, "://", "://user:word@", 1), Timeout: time.Minute, Forwards: true,
	})
	for want, header := range map[string]http.Header{"Basic dXNlcjp3b3Jk": nil, "Bearer own": {"Authorization": {"Bearer own"}}} {
		response := must.Get(upstream.NewPool("pool", e).Forward(t.Context(), upstream.Forward{Method: "GET", Path: "/", Header: header}))(t)
		_ = response.Body.Close()
		if got.Get("Authorization") != want {
			t.Errorf("a client with %v is forwarded with %q, want %q", header, got.Get("Authorization"), want)
		}
	}
}

func TestForwardFailsOver(t *testing.T) {
	for name, c := range map[string]struct {
		method string
		first  int
		body   io.Reader
		want   int
		asked  int64 // by both endpoints
	}{
		"a read that fails":        {"GET", 500, nil, 200, 2},
		"a read that is refused":   {"GET", 404, nil, 404, 1},
		"too many of them":         {"GET", 429, nil, 200, 2},
		"a request with a body":    {"GET", 503, strings.NewReader("a"), 503, 1},
		"a request that does more": {"POST", 503, nil, 503, 1},
	} {
		var asked atomic.Int64
		answer := func(status int) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) { asked.Add(1); w.WriteHeader(status) }
		}
		pool := upstream.NewPool("pool", origin(t, "", nil, answer(c.first)), origin(t, "", nil, answer(200)))
		response, err := pool.Forward(t.Context(), upstream.Forward{Method: c.method, Path: "/", Header: http.Header{}, Body: c.body})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_ = response.Body.Close()
		if response.StatusCode != c.want || asked.Load() != c.asked {
			t.Errorf("%s: %d after %d requests, want %d after %d", name, response.StatusCode, asked.Load(), c.want, c.asked)
		}
	}
}

// closing is a body that records whether it was closed.
type closing struct{ isClosed bool }

func (c *closing) Read([]byte) (int, error) { return 0, io.EOF }
func (c *closing) Close() error             { c.isClosed = true; return nil }

// TestForwardGoesOnFromWhatCannotBeReached lets one origin refuse connections, first on its own and then ahead of one
// that fails and one that answers.
func TestForwardGoesOnFromWhatCannotBeReached(t *testing.T) {
	failed := &closing{}
	failing := pooltest.Endpoint(t, "failing", func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 500, Body: failed}, nil
	}, upstream.EndpointOptions{Forwards: true})
	gone := pooltest.Endpoint(t, "gone", func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") })
	there := origin(t, "", nil, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "there") })
	response := must.Get(upstream.NewPool("pool", gone, failing, there).Forward(t.Context(), upstream.Forward{Method: "GET", Path: "/", Header: http.Header{}}))(t)
	if body, err := io.ReadAll(response.Body); string(body) != "there" || err != nil || response.Body.Close() != nil {
		t.Errorf("the third origin's answer is %q, %v", body, err)
	}
	if !failed.isClosed {
		t.Error("the response of the one that failed stays open")
	}
	if _, err := upstream.NewPool("pool", gone).Forward(t.Context(), upstream.Forward{Method: "GET", Path: "/", Header: http.Header{}}); upstream.ClassOf(err) != upstream.Unreachable {
		t.Errorf("of an origin that cannot be reached: %v", err)
	}
}

// TestForwardedFailureIsTheAnswer checks that a client gets the failure of the endpoints if all fail.
func TestForwardedFailureIsTheAnswer(t *testing.T) {
	failing := func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "sorry", http.StatusBadGateway) }
	for _, pool := range []*upstream.Pool{
		upstream.NewPool("pool", origin(t, "", nil, failing)),
		upstream.NewPool("pool", origin(t, "", nil, failing), origin(t, "", nil, failing)),
	} {
		response := must.Get(pool.Forward(t.Context(), upstream.Forward{Method: "GET", Path: "/", Header: http.Header{}}))(t)
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || response.StatusCode != http.StatusBadGateway || string(body) != "sorry\n" {
			t.Errorf("%d %q, %v", response.StatusCode, body, err)
		}
		if health := pool.Endpoints()[0].Health(); health.Reason == "" {
			t.Error("the failure is not held against the endpoint")
		}
	}
}

func TestForwardedBodyThatBreaks(t *testing.T) {
	e := origin(t, "", nil, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "9")
		_, _ = io.WriteString(w, "half")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	response := must.Get(upstream.NewPool("pool", e).Forward(t.Context(), upstream.Forward{Method: "GET", Path: "/", Header: http.Header{}}))(t)
	defer response.Body.Close()
	var failed *upstream.Error
	if _, err := io.ReadAll(response.Body); !errors.As(err, &failed) || failed.Class != upstream.Unreachable {
		t.Errorf("%v, want an error of the endpoint", err)
	}
	if e.Health().Reason == "" {
		t.Error("the failure is not held against the endpoint")
	}
}

func TestForwardEndsWithItsCaller(t *testing.T) {
	left := make(chan struct{})
	e := origin(t, "", nil, func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(left)
	})
	response := must.Get(upstream.NewPool("pool", e).Forward(t.Context(), upstream.Forward{Method: "GET", Path: "/", Header: http.Header{}}))(t)
	_ = response.Body.Close()
	<-left
	if e.Health().Reason != "" {
		t.Error("a caller who leaves is held against the endpoint")
	}
}

// TestWhatOneClientIsToldStopsNoOther lets an origin ask one client to wait, or fail for one client's path and at its
// base URL often enough to open the breaker of our own calls. Other clients' requests are still sent immediately.
func TestWhatOneClientIsToldStopsNoOther(t *testing.T) {
	for name, told := range map[string]struct {
		status int
		after  string
	}{
		"too many": {429, ""}, "too many for a minute": {429, "60"}, "unavailable for a minute": {503, "60"}, "failing": {500, ""},
	} {
		for endpoints := range 2 {
			synctest.Test(t, func(t *testing.T) {
				asked := func(r *http.Request) (*http.Response, error) {
					if r.URL.Path == "/other" {
						return pooltest.Answer(200, ""), nil
					}
					return pooltest.Answer(told.status, "", "Retry-After", told.after), nil
				}
				var all []*upstream.Endpoint
				for range endpoints + 1 {
					all = append(all, pooltest.Endpoint(t, "origin", asked, upstream.EndpointOptions{Forwards: true}))
				}
				pool := upstream.NewPool("pool", all...)
				ask := func(path string) (int, error) {
					response, err := pool.Forward(t.Context(), upstream.Forward{Method: "GET", Path: path, Header: http.Header{}})
					if err != nil {
						return 0, err
					}
					return response.StatusCode, response.Body.Close()
				}
				for i := range 30 {
					began := time.Now()
					if status, err := ask("/limited"); status != told.status || err != nil || time.Since(began) > time.Second {
						t.Fatalf("%s, %d endpoints, request %d: %d, %v after %v", name, len(all), i, status, err, time.Since(began))
					}
					if i%10 == 9 {
						verified()
					}
				}
				for i := range 9 {
					began := time.Now()
					if status, err := ask("/other"); status != 200 || err != nil || time.Since(began) > 0 {
						t.Errorf("%s, %d endpoints: request %d of another: %d, %v after %v", name, len(all), i, status, err, time.Since(began))
					}
				}
				for _, e := range all {
					e.Close()
				}
			})
		}
	}
}

// TestForwardedRequestThatCannotBeSentIsAnsweredAtOnce uses an origin whose configured rate is exhausted for longer
// than half a request's timeout.
func TestForwardedRequestThatCannotBeSentIsAnsweredAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := pooltest.Endpoint(t, "origin", pooltest.Always(200, ""), upstream.EndpointOptions{Forwards: true, RequestsPerSecond: 0.1, Burst: 1, Timeout: 10 * time.Second})
		pool := upstream.NewPool("pool", e)
		for i, want := range []upstream.Class{0, upstream.RateLimited, upstream.RateLimited} {
			began := time.Now()
			response, err := pool.Forward(t.Context(), upstream.Forward{Method: "GET", Path: "/", Header: http.Header{}})
			if upstream.ClassOf(err) != want || time.Since(began) > 0 {
				t.Errorf("request %d: %v after %v, want class %q at once", i, err, time.Since(began), want)
			}
			if err == nil {
				_ = response.Body.Close()
				continue
			}
			if failed := (*upstream.Error)(nil); !errors.As(err, &failed) || failed.RetryAfter != 10*time.Second {
				t.Errorf("request %d: %v, want when to retry", i, err)
			}
		}
		time.Sleep(6 * time.Second)
		if _, err := pool.Forward(t.Context(), upstream.Forward{Method: "GET", Path: "/", Header: http.Header{}}); err != nil {
			t.Errorf("with half of its time left: %v", err)
		}
	})
}

// TestOpenResponsesHoldNoRequestUp leaves more responses unread than the pool keeps connections.
func TestOpenResponsesHoldNoRequestUp(t *testing.T) {
	const open = 150
	e := origin(t, "", nil, func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		if r.URL.Path == "/long" {
			<-r.Context().Done()
		}
	})
	pool := upstream.NewPool("pool", e)
	for i := range open + 1 {
		path := "/long"
		if i == open {
			path = "/other"
		}
		response, err := pool.Forward(t.Context(), upstream.Forward{Method: "GET", Path: path, Header: http.Header{}})
		if err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		defer response.Body.Close()
	}
}

// TestSilentOriginIsGivenUp checks that the timeout ends the wait for an origin that has the whole request.
func TestSilentOriginIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := pooltest.Endpoint(t, "origin", func(r *http.Request) (*http.Response, error) {
			_, _ = io.Copy(io.Discard, r.Body)
			return pooltest.Silent(r)
		}, upstream.EndpointOptions{Forwards: true, Timeout: time.Second})
		began := time.Now()
		_, err := upstream.NewPool("pool", e).Forward(t.Context(), upstream.Forward{
			Method: "POST", Path: "/", Header: http.Header{}, Body: strings.NewReader("whole"), ContentLength: 5,
		})
		if upstream.ClassOf(err) != upstream.Timeout || time.Since(began) != time.Second {
			t.Errorf("%v after %v, want a timeout after a second", err, time.Since(began))
		}
	})
}
