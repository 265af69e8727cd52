package passthrough

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestOnlyWhatIsMissingIsAskedFor asks for parts of what an origin has, which gives exactly what it is asked for.
func TestOnlyWhatIsMissingIsAskedFor(t *testing.T) {
	const whole = "0123456789"
	type step struct {
		lines  string
		status int
		body   string
		asked  string // Range and If-Range that the origin got; empty: it was not asked
	}
	for name, c := range map[string]struct {
		header string
		second string // representation and its header from the second request on; empty: the same
		steps  []step
	}{
		"the rest": {`ETag: "a"`, "", []step{
			{"Range: bytes=0-4", 206, "01234", "bytes=0-4 "},
			{"Range: bytes=1-2", 206, "12", ""},
			{"Range: bytes=3-", 206, "3456789", `bytes=5-9 "a"`},
			{"Range: bytes=4-6", 206, "456", ""},
			{"", 200, whole, ""},
		}},
		"all of it": {`ETag: "a"`, "", []step{
			{"Range: bytes=6-", 206, "6789", "bytes=6- "},
			{"", 200, whole, `bytes=0-5 "a"`},
			{"Range: bytes=-3", 206, "789", ""},
		}},
		"what does not touch": {`ETag: "a"`, "", []step{
			{"Range: bytes=0-1", 206, "01", "bytes=0-1 "},
			{"Range: bytes=6-7", 206, "67", "bytes=6-7 "},
		}},
		"a gap": {`ETag: "a"`, "", []step{
			{"Range: bytes=4-5", 206, "45", "bytes=4-5 "},
			{"", 200, whole, " "}, // two parts are missing
		}},
		"by date": {"Last-Modified: Mon, 02 Jan 2006 15:04:05 GMT", "", []step{
			{"Range: bytes=0-4", 206, "01234", "bytes=0-4 "},
			{"", 200, whole, "bytes=5-9 Mon, 02 Jan 2006 15:04:05 GMT"},
		}},
		"a weak tag": {`ETag: W/"a"`, "", []step{
			{"Range: bytes=0-4", 206, "01234", "bytes=0-4 "},
			{"", 200, whole, " "},
		}},
		"a condition of the client's": {`ETag: "a"`, "", []step{
			{"Range: bytes=0-4", 206, "01234", "bytes=0-4 "},
			{"Range: bytes=3-6\nIf-Range: \"a\"", 206, "3456", `bytes=3-6 "a"`},
		}},
		"another representation": {`ETag: "a"`, "abcdefghij", []step{
			{"Range: bytes=0-4", 206, "01234", "bytes=0-4 "},
			{"", 200, "abcdefghij", `bytes=5-9 "a"`},
			{"Range: bytes=0-1", 206, "ab", ""},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var asked []string
			w := open(t, func(w http.ResponseWriter, r *http.Request) {
				asked = append(asked, r.Header.Get("Range")+" "+r.Header.Get("If-Range"))
				cached(w, c.header)
				body := whole
				if len(asked) > 1 && c.second != "" {
					w.Header().Set("ETag", `"b"`)
					body = c.second
				}
				w.Header().Set("Content-Type", "text/plain")
				http.ServeContent(w, r, "", time.Time{}, strings.NewReader(body))
			})
			for i, s := range c.steps {
				before := len(asked)
				got := w.ask("GET", "/", s.lines)
				w.handler.works.Wait()
				var want []string
				if s.asked != "" {
					want = []string{s.asked}
				}
				if got.status != s.status || got.body != s.body || !slices.Equal(asked[before:], want) {
					t.Errorf("%d, %q: %d, %q after %q; want %d, %q after %q", i, s.lines, got.status, got.body, asked[before:], s.status, s.body, want)
				}
			}
		})
	}
}

// TestWhatDoesNotFitIsAskedForAnew has an origin that gives another part than it is asked for.
func TestWhatDoesNotFitIsAskedForAnew(t *testing.T) {
	var asked []string
	w := open(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Header.Get("Range"))
		cached(w, `ETag: "a"`)
		switch r.Header.Get("Range") {
		case "bytes=0-1":
			w.Header().Set("Content-Range", "bytes 0-1/10")
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write([]byte("01"))
		case "":
			_, _ = w.Write([]byte("0123456789"))
		default: // not what was asked
			w.Header().Set("Content-Range", "bytes 8-9/10")
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write([]byte("89"))
		}
	})
	w.ask("GET", "/", "Range: bytes=0-1")
	w.handler.works.Wait()
	if got := w.get("/"); got.status != http.StatusOK || got.body != "0123456789" {
		t.Errorf("%d, %q", got.status, got.body)
	}
	if want := []string{"bytes=0-1", "bytes=2-9", ""}; !slices.Equal(asked, want) {
		t.Errorf("asked for %q, want %q", asked, want)
	}
}

// TestHeadIsComparedWithWhatIsStored has the 200 to a HEAD make a stored response of a GET fresh again, or out of date.
func TestHeadIsComparedWithWhatIsStored(t *testing.T) {
	for name, c := range map[string]struct {
		head  string // what the origin says of it
		fresh bool
	}{
		"the same":           {"ETag: \"a\"\nContent-Length: 3\nX-New: 1", true},
		"without validators": {"Content-Length: 3\nX-New: 1", true},
		"another tag":        {"ETag: \"b\"\nContent-Length: 3", false},
		"another length":     {"ETag: \"a\"\nContent-Length: 4", false},
		"not to be stored":   {"ETag: \"a\"\nContent-Length: 3\nCache-Control: no-store", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodHead {
					cached(w, c.head)
					return
				}
				cached(w, "ETag: \"a\"\nContent-Type: text/plain")
				if r.Header.Get("If-None-Match") == `"a"` {
					w.WriteHeader(http.StatusNotModified)
					return
				}
				_, _ = w.Write([]byte("abc"))
			})
			w.get("/")
			w.handler.works.Wait()
			if got := w.ask("HEAD", "/", "Cache-Control: no-cache"); got.status != http.StatusOK || got.number() != 2 {
				t.Fatalf("HEAD: %d, response %d", got.status, got.number())
			}
			got := w.get("/")
			isHit := strings.Contains(got.header.Get("Cache-Status"), "; hit")
			if got.body != "abc" || isHit != c.fresh || c.fresh && got.header.Get("X-New") != "1" {
				t.Errorf("%q with %v, want a hit: %t", got.body, got.header, c.fresh)
			}
		})
	}
}
