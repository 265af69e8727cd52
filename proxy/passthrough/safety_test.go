package passthrough

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"crossgate/cache"
)

// TestWhatIsNotKeyedDecidesNothing says things to the origin by fields that the key does not have.
func TestWhatIsNotKeyedDecidesNothing(t *testing.T) {
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
}

// TestConnectionCannotHideWhoAsks nominates credentials: the origin does not see them then, so neither does the cache.
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

// TestNobodyGetsWhatAnothersCredentialsGot asks as several clients, in any way to say who one is.
func TestNobodyGetsWhatAnothersCredentialsGot(t *testing.T) {
	w := open(t, func(w http.ResponseWriter, r *http.Request) {
		cached(w, "ETag: \"a\"")
		_, _ = io.WriteString(w, r.Header.Get("Authorization")+r.Header.Get("Cookie")+r.Header.Get("X-Key"))
	}, func(h *Host) { h.Credentials = append(h.Credentials, "X-Key") })
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

func TestRefusedPathsAreRefusedInAnySpelling(t *testing.T) {
	w := open(t, func(http.ResponseWriter, *http.Request) {}, func(h *Host) {
		h.Rules = []Rule{{"/", Cache}, {"/internal", Refuse}, {"/live", Pass}}
	})
	for _, path := range []string{
		"/internal", "/internal/", "/internal/x?y", "/INTERNAL/x", "//internal", "/./internal", "/a/../internal", "/%69nternal",
		"/%2569nternal", "/a/%2e%2e/internal", "/a/..%2finternal", "/a/..;/internal", `/a/..\internal`, "/internal;x/y",
		"/live/../internal", "/%2finternal", "/;a/internal",
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
	if got := w.get("/other"); got.status != http.StatusOK {
		t.Errorf("another path: %d", got.status)
	}
	if got := w.get("/live/x"); got.status != http.StatusOK || !strings.Contains(got.header.Get("Cache-Status"), "fwd=bypass") {
		t.Errorf("a path that is passed: %d %s", got.status, got.header.Get("Cache-Status"))
	}
}

func TestHostsAreToldApart(t *testing.T) {
	w := open(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Host) }, func(h *Host) {
		h.Hosts, h.KeepHost = []string{"A.example"}, true
	})
	for host, want := range map[string]string{"a.example": "200", "A.EXAMPLE:80": "200", "a.example.": "200", "b.example": "404", "": "404"} {
		_, reader := w.send("GET / HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n")
		line, _ := reader.ReadString('\n')
		if !strings.HasPrefix(line, "HTTP/1.1 "+want) {
			t.Errorf("%q: %q, want %s", host, line, want)
		}
	}
}

// TestKeysAreInjective makes keys of any two requests.
func TestKeysAreInjective(t *testing.T) {
	h := &Handler{}
	text := rapid.StringOf(rapid.SampledFrom([]rune("/?&=%ab\x00")))
	rapid.Check(t, func(t *rapid.T) {
		a, b := [3]string{text.Draw(t, "host"), text.Draw(t, "path"), text.Draw(t, "query")},
			[3]string{text.Draw(t, "host"), text.Draw(t, "path"), text.Draw(t, "query")}
		key := func(parts [3]string) cache.Key { return h.keyOf(&Host{Name: parts[0]}, parts[1], parts[2]) }
		if (key(a) == key(b)) != (a == b) {
			t.Errorf("%q and %q", a, b)
		}
	})
}

// TestPathsStayAsTheyAreEscaped tells what one server reads as one path and another as two.
func TestPathsStayAsTheyAreEscaped(t *testing.T) {
	w := open(t, func(w http.ResponseWriter, r *http.Request) {
		cached(w, "")
		_, _ = io.WriteString(w, r.RequestURI)
	})
	for _, path := range []string{"/a/b", "/a%2Fb", "/a%2fb", "/a//b", "/a/./b", "/a/x/../b", "/a/b?", "/a/b?c=%2F&d", "/%61/b", "/a;b", "/%c3%a9"} {
		_, reader := w.send("GET " + path + " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
		response, err := http.ReadResponse(reader, nil)
		if err != nil {
			t.Fatal(err)
		}
		if body, _ := io.ReadAll(response.Body); string(body) != path && path != "/a/b?" {
			t.Errorf("%s arrives as %s", path, body)
		}
	}
}
