package proxy_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	client "go.opentelemetry.io/otel/trace"

	"crossgate/internal/pooltest"
	"crossgate/proxy"
	"crossgate/proxy/passthrough"
	"crossgate/proxy/quota"
	"crossgate/proxy/shadow"
	"crossgate/upstream"
)

// origins is a single origin.
type origins struct{ pool *upstream.Pool }

func (o origins) Forward(ctx context.Context, _ string, f upstream.Forward) (*http.Response, error) {
	return o.pool.Forward(ctx, f)
}

// withOrigin returns a server that passes what it does not answer itself to a handler.
func withOrigin(t *testing.T, answer http.HandlerFunc) *site {
	t.Helper()
	return newWorld(t).server(t, passedTo(t, answer))
}

// passedTo returns the option that passes what a server does not answer itself to a handler.
func passedTo(t *testing.T, answer http.HandlerFunc) func(*parts) {
	t.Helper()
	endpoint := pooltest.Serve(t, "origin", answer, upstream.EndpointOptions{Forwards: true})
	return func(o *parts) {
		o.Passthrough = proxy.Passthrough{Origins: origins{upstream.NewPool("origin", endpoint)}, MaxBytes: 1 << 20, Hosts: []passthrough.Host{{
			Name: "orders", MaxBody: 1 << 10,
			Rules: map[string]passthrough.Action{"/private": passthrough.Refuse},
		}}}
	}
}

func TestOtherPathsArePassedThrough(t *testing.T) {
	asked, w := 0, newWorld(t)
	s := w.server(t, passedTo(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		w.Header().Set("Cache-Control", "max-age=60")
		w.Header().Set("Access-Control-Allow-Origin", "https://only.example")
		if r.URL.Path == "/nothing" {
			w.Header()["Content-Type"] = nil
			w.WriteHeader(http.StatusNotFound)
			return
		}
		if r.URL.Path == "/broken" {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, "from the origin")
	}))
	for range 2 {
		response := get(s, "/api/New/path?a=1")
		if got := string(body(t, response)); got != "from the origin" || asked != 1 {
			t.Errorf("%q after %d requests", got, asked)
		}
		if header := response.Header; header.Get("Access-Control-Allow-Origin") != "https://only.example" || header.Get("X-Content-Type-Options") != "" ||
			header.Get("X-Request-Id") == "" {
			t.Errorf("%v", header)
		}
	}
	if response := get(s, "/nothing"); response.StatusCode != http.StatusNotFound || len(body(t, response)) > 0 || response.Header.Get("Content-Type") != "" {
		t.Errorf("an empty 404 of the origin: %d %v", response.StatusCode, response.Header)
	}
	before := asked
	for path, status := range map[string]int{
		ordersPath + createdTx: 200, "/": 200, "http://gateway.example": 200, "/healthz": 200, "/private/x": 404, strings.ToUpper(ordersPath) + createdTx + "/": 200,
	} {
		wantStatus(t, path, get(s, path), status)
	}
	if asked != before {
		t.Errorf("the origin was asked for what is answered here")
	}
	for _, each := range []struct {
		method, path string
		status       int
		id           string
	}{{"GET", "/private/x", 404, "PATH_NOT_FOUND"}, {"TRACE", "/x", 405, "METHOD_NOT_ALLOWED"}, {"GET", "/broken?key=" + secret, 502, "UPSTREAM_FAILED"}} {
		response := do(s, each.method, each.path)
		wantError(t, response, each.status, each.id)
		if header := response.Header; header.Get("Access-Control-Allow-Origin") != "*" || header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: an error that pages of other origins cannot read: %v", each.path, header)
		}
	}
	if line := w.log.String(); !regexp.MustCompile(`"path":"/broken","status":502,.*"error":"`).MatchString(line) || strings.Contains(line, secret) {
		t.Errorf("the log does not say why a request failed, or tells its query:\n%s", line)
	}
}

// TestOurKeysAreNotPassedOn sends a client's key in each place for it.
func TestOurKeysAreNotPassedOn(t *testing.T) {
	const key = "key-of-a-wallet"
	s := newWorld(t).server(t, passedTo(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		_, _ = io.WriteString(w, r.Header.Get("Authorization")+"?"+r.URL.RawQuery)
	}), func(o *parts) {
		o.Quotas = quota.Options{Keys: []quota.Key{{Name: "wallet", Key: key, Quota: quota.Quota{Units: 100, Window: time.Minute}}}}
	})
	for i, c := range []struct{ target, line, want string }{
		{"/a?b=1", "Authorization: bearer " + key, "?b=1"},
		{"/a?accesstoken=" + key + "&b=1", "A: b", "?b=1"},
		{"/a?b=1", "A: b", "?b=1"},
		{"/c?b=1", "Authorization: Bearer theirs", "Bearer theirs?b=1"},
		{"/a?accesstoken=theirs", "A: b", "?accesstoken=theirs"},
	} {
		response := get(s, c.target, c.line)
		if got := string(body(t, response)); got != c.want {
			t.Errorf("%d: the origin is told %s, want %s", i, got, c.want)
		}
		if isHit := strings.Contains(response.Header.Get("Cache-Status"), "; hit"); isHit != (i == 1 || i == 2) {
			t.Errorf("%d: %s", i, response.Header.Get("Cache-Status"))
		}
	}
}

// TestGivenUpRequestsAreCounted has clients leave while an origin does not answer, like balancers: that is a failure.
func TestGivenUpRequestsAreCounted(t *testing.T) {
	asked := make(chan struct{})
	s := withOrigin(t, func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
	})
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		ctx, leave := context.WithCancel(t.Context())
		answer, done := httptest.NewRecorder(), make(chan struct{})
		go func() {
			s.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(ctx, method, "/waiting", http.NoBody))
			close(done)
		}()
		<-asked
		leave()
		<-done
		if answer.Code != proxy.ClientLeft.Status {
			t.Errorf("%s: %d, want %d", method, answer.Code, proxy.ClientLeft.Status)
		}
	}
}

// recordSpans records every span until the test ends.
func recordSpans(t *testing.T, options ...trace.TracerProviderOption) *tracetest.InMemoryExporter {
	t.Helper()
	spans, before := tracetest.NewInMemoryExporter(), otel.GetTracerProvider()
	provider := trace.NewTracerProvider(append(options, trace.WithSyncer(spans))...)
	otel.SetTracerProvider(provider)
	t.Cleanup(func() {
		otel.SetTracerProvider(before)
		if err := provider.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return spans
}

// TestPassedRequestsAreTracedAsAChainOfSpans requests a passed-through path, its stored response, and one that is not
// stored: the attempts at the origin belong to the request that made them, or nothing has a span.
func TestPassedRequestsAreTracedAsAChainOfSpans(t *testing.T) {
	for name, c := range map[string]struct {
		share float64
		want  []string
	}{
		"traced":   {1, []string{"client GET", "server GET", "server GET", "client GET", "server GET"}},
		"untraced": {0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			spans := recordSpans(t)
			s := withOrigin(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/kept" {
					w.Header().Set("Cache-Control", "max-age=60")
				}
				_, _ = io.WriteString(w, "from the origin")
			})
			s.Options.Traced = c.share
			for _, path := range []string{"/kept", "/kept", "/passed"} {
				wantStatus(t, path, get(s, path), http.StatusOK)
			}
			var got []string
			request := map[string]bool{}
			for _, span := range spans.GetSpans() {
				got = append(got, span.SpanKind.String()+" "+span.Name)
				if span.SpanKind == client.SpanKindClient && !span.Parent.IsValid() {
					t.Error("an attempt belongs to no request")
				}
				request[span.SpanContext.TraceID().String()] = true
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("spans %q, want %q", got, c.want)
			}
			if c.want != nil && len(request) != 3 {
				t.Errorf("%d traces of 3 requests", len(request))
			}
		})
	}
}

// TestComparisonsLeaveNoSpans proves that comparisons have no traces of their own, nor spans in requested ones.
func TestComparisonsLeaveNoSpans(t *testing.T) {
	spans := recordSpans(t)
	s, ended := withShadow(t, func(http.ResponseWriter, *http.Request) {}, func(*shadow.Settings) {})
	s.Options.Traced = 0
	get(s, ordersPath+claimedTx)
	ended()
	if got := spans.GetSpans(); len(got) > 0 {
		t.Errorf("%d spans, the first %s", len(got), got[0].Name)
	}
}
