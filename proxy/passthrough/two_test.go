package passthrough

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"slices"
	"strings"
	"testing"

	"crossgate/internal/must"
)

// TestHTTP2IsPassedThroughLikeHTTP1 asks over one connection of HTTP/2 for what is stored and what is streamed.
func TestHTTP2IsPassedThroughLikeHTTP1(t *testing.T) {
	w := open(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/kept":
			cached(w, `ETag: "a"`)
			_, _ = io.WriteString(w, "0123456789")
		case "/echo":
			w.Header().Set("Trailer", "Length")
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			w.Header().Set("Length", r.Trailer.Get("Count"))
			_, _ = w.Write(body)
		case "/hints":
			w.Header().Set("Link", "</style.css>; rel=preload")
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusNoContent)
		case "/broken":
			w.Header().Set("Content-Length", "10")
			_, _ = io.WriteString(w, "01")
			flush(w)
			panic(http.ErrAbortHandler)
		}
	})
	transport := &http.Transport{Protocols: new(http.Protocols), DisableCompression: true}
	transport.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(transport.CloseIdleConnections)
	two := &http.Client{Transport: transport}
	ask := func(method, path string, body io.Reader, header, trailer http.Header) (*http.Response, string, error) {
		t.Helper()
		var hints []string
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
			Got1xxResponse: func(_ int, header textproto.MIMEHeader) error { hints = append(hints, header.Get("Link")); return nil },
		})
		r := must.Get(http.NewRequestWithContext(ctx, method, w.url+path, body))(t)
		if header != nil {
			r.Header = header
		}
		r.Trailer = trailer
		response, err := two.Do(r)
		if err != nil {
			return nil, "", err
		}
		defer response.Body.Close()
		got, err := io.ReadAll(response.Body)
		if response.ProtoMajor != 2 {
			t.Errorf("%s: %s", path, response.Proto)
		}
		return response, string(got) + strings.Join(hints, ","), err
	}
	for i, c := range []struct {
		header http.Header
		status int
		body   string
		isHit  bool
	}{
		{nil, 200, "0123456789", false},
		{nil, 200, "0123456789", true},
		{http.Header{"Range": {"bytes=2-4"}}, 206, "234", true},
		{http.Header{"If-None-Match": {`"a"`}}, 304, "", true},
	} {
		response, body, err := ask("GET", "/kept", nil, c.header, nil)
		w.handler.works.Wait()
		if err != nil || response.StatusCode != c.status || body != c.body || strings.Contains(response.Header.Get("Cache-Status"), "; hit") != c.isHit {
			t.Errorf("%d: %v, %q, %v", i, response, body, err)
		}
	}
	long := bytes.Repeat([]byte("x"), 300<<10) // more than a stream's window
	response, body, err := ask("POST", "/echo", io.MultiReader(bytes.NewReader(long)), nil, http.Header{"Count": {"7"}})
	if err != nil || body != string(long) || response.Trailer.Get("Length") != "7" {
		t.Errorf("%d bytes with %v came back: %v", len(body), response.Trailer, err)
	}
	if response, hints, err := ask("GET", "/hints", nil, nil, nil); err != nil || response.StatusCode != http.StatusNoContent || hints != "</style.css>; rel=preload" {
		t.Errorf("interim responses: %v %q %v", response, hints, err)
	}
	if _, body, err := ask("GET", "/broken", nil, nil, nil); err == nil {
		t.Errorf("what broke off came as %q, %v", body, err)
	}
	if response, _, err := ask("GET", "/kept", nil, nil, nil); err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("the connection did not outlive it: %v", err)
	}
	if names := slices.Sorted(maps.Keys(response.Header)); slices.Contains(names, "Connection") || slices.Contains(names, "Transfer-Encoding") {
		t.Errorf("fields of HTTP/1.1 are in %v", names)
	}
}
