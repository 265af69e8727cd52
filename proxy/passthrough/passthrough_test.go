package passthrough

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"crossgate/cache"
	"crossgate/internal/must"
)

// step is a request of a course, with the number of the origin's response that answers it.
type step struct {
	method, path, header string
	status, number       int
	cacheStatus          string // a part of it
}

// TestCourses sends requests in sequence to an origin whose answers depend on the path.
func TestCourses(t *testing.T) {
	origin := func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/kept":
			cached(w, "")
		case "/cookie":
			w.Header().Set("Etag", `"a"`)
			w.Header().Set("Set-Cookie", "a=b")
		case "/tagged":
			cached(w, "Cache-Control: no-cache\nETag: \"a\"")
			if r.Header.Get("If-None-Match") == `"a"` {
				w.WriteHeader(http.StatusNotModified)
				return
			}
		case "/vary":
			cached(w, "Vary: A")
		case "/vary-by-us":
			cached(w, "Vary: X-Forwarded-For")
		case "/old":
			cached(w, "Cache-Control: max-age=100, stale-while-revalidate=50\nAge: 120")
		case "/outage":
			cached(w, "Age: 200")
			if strings.Contains(r.URL.RawQuery, "strict") {
				w.Header().Set("Cache-Control", "max-age=100, must-revalidate")
				w.Header().Set("Etag", `"a"`)
			}
			if r.Header.Get("Down") != "" {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
		case "/error":
			cached(w, "")
			w.WriteHeader(http.StatusNotFound)
		case "/empty":
			cached(w, "")
			w.WriteHeader(http.StatusNoContent)
			return
		case "/part":
			cached(w, "Content-Range: bytes 0-9/20")
			w.WriteHeader(http.StatusPartialContent)
		case "/located":
			cached(w, "")
			w.Header().Set("Location", "/kept")
		}
		_, _ = io.WriteString(w, "0123456789")
	}
	for name, steps := range map[string][]step{
		"stored":               {{"GET", "/kept", "", 200, 1, "fwd=uri-miss; fwd-status=200; stored"}, {"GET", "/kept", "", 200, 1, "hit; ttl="}},
		"HEAD of what is":      {{"GET", "/kept", "", 200, 1, ""}, {"HEAD", "/kept", "", 200, 1, "hit"}},
		"HEAD is not stored":   {{"HEAD", "/kept", "", 200, 1, "fwd=uri-miss"}, {"GET", "/kept", "", 200, 2, "stored"}},
		"HEAD of what is old":  {{"GET", "/old", "", 200, 1, ""}, {"HEAD", "/old", "", 200, 1, "detail=stale-while-revalidate"}, {"GET", "/old", "", 200, 2, ""}},
		"not stored":           {{"GET", "/other", "", 200, 1, "fwd=uri-miss; fwd-status=200"}, {"GET", "/other", "", 200, 2, "fwd=uri-miss"}},
		"by query":             {{"GET", "/kept?a", "", 200, 1, ""}, {"GET", "/kept?b", "", 200, 2, ""}, {"GET", "/kept?a", "", 200, 1, ""}},
		"an error":             {{"GET", "/error", "", 404, 1, ""}, {"GET", "/error", "", 404, 1, "hit"}},
		"nothing":              {{"GET", "/empty", "", 204, 1, ""}, {"GET", "/empty", "", 204, 1, "hit"}},
		"with a cookie":        {{"GET", "/kept", "Cookie: a=b", 200, 1, ""}, {"GET", "/kept", "", 200, 2, ""}, {"GET", "/kept", "Cookie: a=b", 200, 2, "hit"}},
		"with authorization":   {{"GET", "/kept", "Authorization: a", 200, 1, ""}, {"GET", "/kept", "Authorization: b", 200, 2, ""}},
		"that sets cookies":    {{"GET", "/cookie", "", 200, 1, ""}, {"GET", "/cookie", "", 200, 2, ""}},
		"a part of nothing":    {{"GET", "/part", "Range: bytes=0-1", 206, 1, "fwd=uri-miss; fwd-status=206"}, {"GET", "/part", "Range: bytes=0-1", 206, 2, ""}},
		"validated":            {{"GET", "/tagged", "", 200, 1, "stored"}, {"GET", "/tagged", "", 200, 2, "fwd=stale; fwd-status=304; stored"}},
		"known to the client":  {{"GET", "/tagged", "", 200, 1, ""}, {"GET", "/tagged", `If-None-Match: "a"`, 304, 2, "fwd=stale"}},
		"both variants":        {{"GET", "/vary", "A: 1", 200, 1, ""}, {"GET", "/vary", "A: 2", 200, 2, "fwd=vary-miss"}, {"GET", "/vary", "A: 1", 200, 1, "hit"}, {"GET", "/vary", "A: 2", 200, 2, "hit"}},
		"Vary by what is ours": {{"GET", "/vary-by-us", "", 200, 1, ""}, {"GET", "/vary-by-us", "", 200, 2, ""}},
		"an outage":            {{"GET", "/outage", "", 200, 1, ""}, {"GET", "/outage", "Down: 1", 200, 1, "hit; ttl=-100; fwd=stale; fwd-status=503; detail=stale-if-error"}, {"GET", "/outage", "Down: 1", 200, 1, "fwd-status=503; detail=stale-if-error"}},
		"an outage, strictly":  {{"GET", "/outage?strict", "", 200, 1, ""}, {"GET", "/outage?strict", "Down: 1", 503, 2, "fwd=stale"}},
		"no-store":             {{"GET", "/kept", "", 200, 1, ""}, {"GET", "/kept", "Cache-Control: no-store", 200, 2, "fwd=request"}, {"GET", "/kept", "", 200, 1, "hit"}},
		"no-cache":             {{"GET", "/kept", "", 200, 1, ""}, {"GET", "/kept", "Cache-Control: no-cache", 200, 2, "fwd=stale"}, {"GET", "/kept", "", 200, 2, "hit"}},
		"only what is stored":  {{"GET", "/kept", "Cache-Control: only-if-cached", 504, 0, ""}, {"GET", "/kept", "", 200, 1, ""}, {"GET", "/kept", "Cache-Control: only-if-cached", 200, 1, "hit"}},
		"a part":               {{"GET", "/kept", "", 200, 1, ""}, {"GET", "/kept", "Range: bytes=2-4", 206, 1, "hit"}, {"GET", "/kept", "Range: bytes=20-", 416, 1, "hit"}},
		"changed":              {{"GET", "/kept", "", 200, 1, ""}, {"POST", "/kept", "", 200, 2, "fwd=method"}, {"GET", "/kept", "", 200, 3, ""}},
		"changed elsewhere":    {{"GET", "/kept", "", 200, 1, ""}, {"DELETE", "/located", "", 200, 2, ""}, {"GET", "/kept", "", 200, 3, ""}},
		"not changed":          {{"GET", "/error", "", 404, 1, ""}, {"PUT", "/error", "", 404, 2, ""}, {"GET", "/error", "", 404, 1, "hit"}},
		"a precondition":       {{"GET", "/kept", "", 200, 1, ""}, {"GET", "/kept", `If-Match: "x"`, 200, 2, "fwd=bypass"}},
		"TRACE":                {{"TRACE", "/kept", "", 502, 0, ""}},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t, origin)
			for i, s := range steps {
				got := w.ask(s.method, s.path, s.header)
				w.handler.works.Wait() // clients have a whole body before it is stored
				if got.status != s.status || got.number() != s.number || !strings.Contains(got.header.Get("Cache-Status"), s.cacheStatus) {
					t.Fatalf("request %d: %d, response %d of the origin, %q; want %d, response %d, %q",
						i+1, got.status, got.number(), got.header.Get("Cache-Status"), s.status, s.number, s.cacheStatus)
				}
				if got.status == http.StatusOK && s.method == "GET" && got.body != "0123456789" {
					t.Errorf("request %d: body %q", i+1, got.body)
				}
			}
		})
	}
}

func TestStaleIsServedWhileItIsValidated(t *testing.T) {
	asked := make(chan string, 2)
	w := open(t, func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Header.Get("If-None-Match")
		if r.Header.Get("If-None-Match") != "" {
			cached(w, "ETag: \"a\"")
			w.WriteHeader(http.StatusNotModified)
			return
		}
		cached(w, "Cache-Control: max-age=100, stale-while-revalidate=50\nAge: 120\nETag: \"a\"")
	})
	w.get("/")
	<-asked
	w.handler.works.Wait() // clients have a whole body before it is stored
	if got := w.get("/"); got.number() != 1 || !strings.Contains(got.header.Get("Cache-Status"), "detail=stale-while-revalidate") {
		t.Errorf("response %d, %q", got.number(), got.header.Get("Cache-Status"))
	}
	if tag := <-asked; tag != `"a"` {
		t.Errorf("validated by %q", tag)
	}
	w.handler.works.Wait()
	if got := w.get("/"); got.number() != 2 || !strings.HasPrefix(got.header.Get("Cache-Status"), "crossgate; hit; ttl=") || len(got.header.Get("Age")) > 2 {
		t.Errorf("after that: response %d, %q, age %s", got.number(), got.header.Get("Cache-Status"), got.header.Get("Age"))
	}
}

// TestChangesReachWhatIsBeingStored changes a resource while an earlier response of it arrives.
func TestChangesReachWhatIsBeingStored(t *testing.T) {
	for name, line := range map[string]string{"for all clients": "A: b", "begun by a condition": `If-None-Match: "b"`} {
		release := make(chan struct{})
		w := open(t, func(w http.ResponseWriter, _ *http.Request) {
			if cached(w, ""); w.Header().Get("Number") == "1" {
				flush(w)
				<-release
			}
			_, _ = io.WriteString(w, "0123456789")
		})
		_, reader := w.send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n" + line + "\r\n\r\n")
		must.Get(reader.ReadString('\n'))(t)
		w.ask("POST", "/", "")
		close(release)
		w.handler.works.Wait()
		if got := w.get("/"); got.number() != 3 {
			t.Errorf("%s: response %d after a change", name, got.number())
		}
	}
}

func TestPurges(t *testing.T) {
	for name, c := range map[string]struct {
		how    cache.Purge
		paths  []string
		number int
		same   bool // the other path is still stored
	}{
		"a path, hard":     {cache.Hard, []string{"/a"}, 3, true},
		"a path, soft":     {cache.Soft, []string{"/a"}, 3, true},
		"a host, hard":     {cache.Hard, nil, 3, false},
		"another path":     {cache.Hard, []string{"/c"}, 1, true},
		"a path, not both": {cache.Soft, []string{"/b"}, 1, false},
	} {
		w := open(t, func(w http.ResponseWriter, r *http.Request) {
			cached(w, "ETag: \"a\"")
			if r.Header.Get("If-None-Match") != "" {
				w.WriteHeader(http.StatusNotModified)
			}
		})
		w.get("/a?q=1")
		w.get("/b")
		w.handler.Purge(c.how, []string{"o"}, c.paths)
		if got := w.get("/a?q=1"); got.number() != c.number || got.status != http.StatusOK {
			t.Errorf("%s: response %d, want %d", name, got.number(), c.number)
		}
		if got := w.get("/b"); (got.number() == 2) != c.same {
			t.Errorf("%s: the other path has response %d", name, got.number())
		}
	}
}
