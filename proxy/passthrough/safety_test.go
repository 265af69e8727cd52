package passthrough

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"crossgate/cache"
	"crossgate/internal/must"
)

// TestWhatIsNotKeyedDecidesNothing sends the origin fields that are not in the key: those known for cache poisoning,
// and similar ones. Fields that clients legitimately send pass.
func TestWhatIsNotKeyedDecidesNothing(t *testing.T) {
	unkeyed := strings.Fields(`
		Forwarded X-Forwarded X-Forwarded-For X-Forwarded-Host X-Forwarded-Port X-Forwarded-Prefix X-Forwarded-Proto X-Forwarded-Scheme
		X-Forwarded-Server X-Forwarded-Ssl X-Forwarded-Uri X-Forwarded-Path X-Forwarded-By X-Forward-For X_Forwarded_Host X_Forwarded_For
		x_host Api_key X_Original_URL X.Forwarded.Host X-Forwarded-Host_ X-Host X-Http-Host-Override X-Host-Override X-Original-Host X-Backend-Host
		X-Http-Method X-Http-Method-Override X-Method-Override X-Original-Uri X-Original-Url X-Rewrite-Url X-Url X-Uri Base-Url Request-Uri
		X-Real-Ip X-Client-Ip Client-Ip True-Client-Ip CF-Connecting-IP CF-Connecting-IPv6 CF-IPCountry CF-Visitor X-Cluster-Client-Ip
		Fastly-Client-Ip Fastly-Ssl X-Azure-ClientIP X-Originating-Ip X-Remote-Ip X-Remote-Addr Remote-Addr X-ProxyUser-Ip X-Envoy-Original-Path
		X-Envoy-External-Address X-Appengine-User-Ip CloudFront-Viewer-Country CloudFront-Forwarded-Proto
		Front-End-Https X-Url-Scheme X-Scheme X-Proto X-Port X-Ssl X-Arr-Ssl X-Https Ssl-Client-Verify Client-Cert X-Script-Name X-Wap-Profile
		Proxy Proxy-Host X-Proxy-Url Surrogate-Capability X-Middleware-Subrequest X-Invoke-Status HTTP2-Settings
		Upgrade Remote-User`)
	said := strings.Fields(`A Accept Accept-Language Access-Control-Request-Method Origin Sec-Fetch-Site Sec-CH-Prefers-Color-Scheme X-Api-Key
		X-Request-Id X-Requested-With Upgrade-Insecure-Requests Content-Type Referer Traceparent Idempotency-Key User-Agent X-Wallet-Address X-Payment-Method`)
	var heard http.Header
	w := open(t, func(w http.ResponseWriter, r *http.Request) {
		heard = r.Header.Clone()
		cached(w, "Connection: Secret\nSecret: s\nKeep-Alive: 1\nKept: k")
		_, _ = io.WriteString(w, r.Host)
	})
	got := w.ask("GET", "/", strings.Join(unkeyed, ": evil.example\n")+": evil.example\nConnection: Nominated, keep-alive\n"+
		"Nominated: n\nTE: trailers\nProxy-Authorization: p\nA: b")
	for name := range heard {
		switch name {
		case "X-Forwarded-For", "Via", "A", "User-Agent":
		default:
			t.Errorf("the origin is told %s: %s", name, heard[name])
		}
	}
	if address := heard.Get("X-Forwarded-For"); address != "192.0.2.7" {
		t.Errorf("the origin is told that %s asks", address)
	}
	for range 2 {
		if got.header.Get("Secret") != "" || got.header.Get("Keep-Alive") != "" || got.header.Get("Kept") != "k" {
			t.Errorf("the client is told %v", got.header)
		}
		got = w.get("/")
	}
	if got.number() != 1 {
		t.Error("it was not stored")
	}
	w.ask("GET", "/said", strings.Join(said, ": v\n")+": v")
	for _, name := range said {
		if heard.Get(name) != "v" {
			t.Errorf("the origin is not told %s", name)
		}
	}
}

// TestConnectionCannotHideWhoAsks nominates credentials: the origin does not see them, so the cache must not either.
func TestConnectionCannotHideWhoAsks(t *testing.T) {
	w := open(t, func(w http.ResponseWriter, r *http.Request) {
		cached(w, "Vary: Accept-Language")
		_, _ = io.WriteString(w, r.Header.Get("Authorization")+r.Header.Get("Cookie")+r.Header.Get("Accept-Language"))
	})
	hidden := w.ask("GET", "/", "Authorization: secret\nCookie: secret\nAccept-Language: xx\nConnection: authorization, Cookie, accept-language")
	if hidden.body != "" {
		t.Fatalf("the origin saw %q", hidden.body)
	}
	if next := w.ask("GET", "/", "Accept-Language: xx"); next.body != "xx" {
		t.Errorf("who asks in xx gets %q", next.body)
	}
	if next := w.get("/"); next.number() != 1 {
		t.Errorf("who asks for nothing gets response %d", next.number())
	}
}

// TestNobodyGetsWhatAnothersCredentialsGot sends requests as several clients, with every kind of credentials.
func TestNobodyGetsWhatAnothersCredentialsGot(t *testing.T) {
	w := open(t, func(w http.ResponseWriter, r *http.Request) {
		cached(w, "ETag: \"a\"")
		_, _ = io.WriteString(w, r.Header.Get("Authorization")+r.Header.Get("Cookie")+r.Header.Get("X-Key"))
	})
	for _, name := range []string{"Authorization", "Cookie", "X-Key"} {
		for _, who := range []string{"alice", "bob", ""} {
			lines := name + ": " + who
			if who == "" {
				lines = ""
			}
			path := "/" + name
			if got := w.ask("GET", path, lines); got.body != who {
				t.Errorf("%s: %q got what %q did", name, who, got.body)
			}
		}
	}
}

// TestWhatIsValidatedForOneIsNotForAll validates a stale response with a 304 that is only for its first client, while
// others wait for it.
func TestWhatIsValidatedForOneIsNotForAll(t *testing.T) {
	const callers = 3
	for _, line := range []string{"Set-Cookie: session=alice", "Cache-Control: private", "Vary: *"} {
		release := make(chan struct{})
		w := open(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("If-None-Match") == "" {
				cached(w, "Cache-Control: no-cache\nETag: \"a\"")
				return
			}
			<-release
			cached(w, "ETag: \"a\"\n"+line)
			w.WriteHeader(http.StatusNotModified)
		})
		w.get("/")
		w.handler.works.Wait()
		if seen := w.together(callers, release); len(seen) != callers {
			t.Errorf("%s: %d clients got different responses %v", line, callers, seen)
		}
	}
}

// TestTrailersSayNoMoreThanHeaders ends a body with fields that are not forwarded in headers, announced or not.
func TestTrailersSayNoMoreThanHeaders(t *testing.T) {
	var heard http.Header
	w := open(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		heard = r.Trailer.Clone()
	})
	_, reader := w.send("POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nTransfer-Encoding: chunked\r\nTrailer: Sum, X-Forwarded-For\r\n\r\n" +
		"1\r\na\r\n0\r\nSum: 1\r\nX-Forwarded-For: evil.example\r\nX-Original-Url: /admin\r\nConnection: x\r\nHost: evil.example\r\nContent-Length: 9\r\n\r\n")
	if line, err := reader.ReadString('\n'); err != nil || line != "HTTP/1.1 200 OK\r\n" {
		t.Fatalf("%q, %v", line, err)
	}
	for name, lines := range heard {
		if name != "Sum" && len(lines) > 0 {
			t.Errorf("the origin is told %s: %s", name, lines)
		}
	}
	if heard.Get("Sum") != "1" {
		t.Errorf("trailer %v", heard)
	}
}

func TestRefusedPathsAreRefusedInAnySpelling(t *testing.T) {
	w := open(t, func(http.ResponseWriter, *http.Request) {}, func(h *Host) {
		h.Rules = map[string]Action{"/": Cache, "/internal": Refuse, "/Internal": Cache, "/secret/": Refuse, "/live": Pass}
	})
	for _, path := range []string{
		"/internal", "/internal/", "/internal/x?y", "/INTERNAL/x", "//internal", "/./internal", "/a/../internal", "/%69nternal",
		"/%2569nternal", "/a/%2e%2e/internal", "/a/..%2finternal", "/a/..;/internal", `/a/..\internal`, "/internal;x/y",
		"/live/../internal", "/%2finternal", "/;a/internal", "/%25zz/..%252finternal/x", "/a/%25%32%65%25%32%65/internal",
		"/a/%2525252e%2525252e/internal", "/a%5c..%5cinternal", "/a%255c..%255cinternal", `/a\..;b\internal`, "/a/..;/;/internal",
		"/inter%00nal", "/x%00/../internal", "/inter%09nal", "/a/%c0%ae%c0%ae/internal", "/a/%c0%ae%c0%ae%c0%afinternal",
		"/a/%e0%80%ae%e0%80%ae/internal", "/%25c0%25afinternal", "/a/.%2e/internal", "/a//../internal", "/a/..//internal", "/./live/.././internal",
		"/%252e/internal", "/a/..%3b/internal", "/a/%2e%2e%3bx/internal", "/live/%2e%2e/secret/", "/a/../secret/", "//secret//", "/secret/.",
		"/a/../secret/x/..", "/other;a=b", "/100%25", "/%25zz/x", "/%c3%a9/%e9", "/a/b/../c", "/..;/x",
	} {
		_, reader := w.send("GET " + path + " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
		if line, _ := reader.ReadString('\n'); !strings.HasPrefix(line, "HTTP/1.1 4") {
			t.Errorf("%s: %q", path, line)
		}
	}
	if asked := w.asked.Load(); asked != 0 {
		t.Errorf("%d requests reached the origin", asked)
	}
	if got := w.get("/internals"); got.status != http.StatusNotFound {
		t.Errorf("a prefix is one of texts: %d", got.status)
	}
	for _, path := range []string{"/", "/other", "/other/", "/other/%20x%2fy", "/%c3%a9", "/secret"} {
		if got := w.get(path); got.status != http.StatusOK {
			t.Errorf("%s: %d", path, got.status)
		}
	}
	closed := open(t, func(http.ResponseWriter, *http.Request) {}, func(h *Host) { h.Rules = map[string]Action{"/": Refuse, "/open/": Cache} })
	for path, status := range map[string]int{"/open/a%2Fb": http.StatusOK, "/open%2Fa": http.StatusNotFound, "/open%2f": http.StatusNotFound} {
		if got := closed.get(path); got.status != status { // an origin may read one segment
			t.Errorf("%s: %d, want %d", path, got.status, status)
		}
	}
	if got := w.get("/live/x"); got.status != http.StatusOK || !strings.Contains(got.header.Get("Cache-Status"), "fwd=bypass") {
		t.Errorf("a path that is passed: %d %s", got.status, got.header.Get("Cache-Status"))
	}
}

// TestALoopEnds has an origin whose address leads back to the gateway.
func TestALoopEnds(t *testing.T) {
	var w *world
	w = open(t, func(rw http.ResponseWriter, r *http.Request) {
		if w.asked.Load() <= 9 {
			w.serve(rw, r)
		}
	})
	_, reader := w.send("POST /x HTTP/1.1\r\nHost: h\r\nVia: 1.1 cdn\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx")
	if line, _ := reader.ReadString('\n'); !strings.HasPrefix(line, "HTTP/1.1 502 ") || w.asked.Load() != mostPasses {
		t.Errorf("%q after %d passes, want 502 after %d", line, w.asked.Load(), mostPasses)
	}
}

// TestHostsAreToldApart configures one host as clients write it, and one fully qualified, with a dot at the end.
func TestHostsAreToldApart(t *testing.T) {
	for _, name := range []string{"A.example", "A.example."} {
		w := open(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Host) }, func(h *Host) {
			h.Hosts, h.KeepHost = []string{name}, true
		})
		for host, want := range map[string]string{"a.example": "200", "A.EXAMPLE:80": "200", "a.example.": "200", "b.example": "404", "": "404"} {
			_, reader := w.send("GET / HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n")
			line, _ := reader.ReadString('\n')
			if !strings.HasPrefix(line, "HTTP/1.1 "+want) {
				t.Errorf("%q of %q: %q, want %s", host, name, line, want)
			}
		}
	}
}

// TestKeptHostsDoNotMix has an origin write the Host of the request into what is stored. A change for one Host does not
// affect another.
func TestKeptHostsDoNotMix(t *testing.T) {
	w := open(t, func(w http.ResponseWriter, r *http.Request) {
		cached(w, "Location: http://"+r.Host+"/next")
		_, _ = io.WriteString(w, r.Host+r.URL.RawQuery)
	}, func(h *Host) { h.KeepHost = true })
	asks := func(method, host, target, want string, number int) {
		t.Helper()
		_, reader := w.send(method + " " + target + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n")
		response := must.Get(http.ReadResponse(reader, nil))(t)
		body, err := io.ReadAll(response.Body)
		w.handler.works.Wait()
		if got := response.Header.Get("Number"); err != nil || string(body) != want || got != strconv.Itoa(number) {
			t.Errorf("%s %s of %s: response %s, %q, want %d, %q", method, target, host, got, body, number, want)
		}
		host, _, _ = strings.Cut(want, "q")
		if location := response.Header.Get("Location"); location != "http://"+host+"/next" {
			t.Errorf("%s is led to %s", host, location)
		}
	}
	asks("GET", "a.example", "/", "a.example", 1)
	asks("GET", "b.example", "/", "b.example", 2)
	asks("GET", "a.example:8081", "/", "a.example:8081", 3)
	asks("GET", "A.example", "/", "a.example", 1)
	asks("GET", "h", "http://b.example/", "b.example", 2)
	asks("GET", "b.example", "/?q1", "b.exampleq1", 4)
	asks("GET", "a.example", "/?q2", "a.exampleq2", 5)
	asks("PUT", "b.example", "/", "b.example", 6)
	asks("GET", "a.example", "/", "a.example", 1)
	asks("GET", "b.example", "/", "b.example", 7)
	w.handler.Purge(cache.Hard, []string{"o"}, []string{"/"})
	asks("GET", "a.example", "/", "a.example", 8)
	asks("GET", "a.example:8081", "/", "a.example:8081", 9)
}

// TestKeysAreInjective compares the keys of any two requests.
func TestKeysAreInjective(t *testing.T) {
	text := rapid.StringOf(rapid.SampledFrom([]rune("/?&=%ab\x00")))
	rapid.Check(t, func(t *rapid.T) {
		var a, b [4]string
		for i, name := range []string{"name", "host", "path", "query"} {
			a[i], b[i] = text.Draw(t, name), text.Draw(t, name)
		}
		key := func(parts [4]string) cache.Key { return keyOf(&Host{Name: parts[0]}, parts[1], parts[2], parts[3]) }
		if (key(a) == key(b)) != (a == b) {
			t.Errorf("%q and %q", a, b)
		}
	})
}

// TestPathsStayAsTheyAreEscaped distinguishes paths that some servers consider equal.
func TestPathsStayAsTheyAreEscaped(t *testing.T) {
	w := open(t, func(w http.ResponseWriter, r *http.Request) {
		cached(w, "")
		_, _ = io.WriteString(w, r.RequestURI)
	})
	for _, path := range []string{"/a/b", "/a%2Fb", "/a%2fb", "/a//b", "/a/./b", "/a/x/../b", "/a/b?", "/a/b?c=%2F&d", "/%61/b", "/a;b", "/%c3%a9"} {
		_, reader := w.send("GET " + path + " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
		response := must.Get(http.ReadResponse(reader, nil))(t)
		if body, _ := io.ReadAll(response.Body); string(body) != path && path != "/a/b?" {
			t.Errorf("%s arrives as %s", path, body)
		}
	}
}
