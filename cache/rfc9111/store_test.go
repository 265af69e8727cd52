package rfc9111

import (
	"net/url"
	"testing"

	"crossgate/internal/golden"
	"crossgate/internal/must"
)

func TestMayStore(t *testing.T) {
	for name, c := range map[string]struct {
		request  string
		status   int
		response string
		want     bool
	}{
		"a lifetime":                              {"", 200, "Cache-Control: max-age=1", true},
		"nothing said":                            {"", 200, "", false},
		"a validator":                             {"", 200, `ETag: "a"`, true},
		"Expires in the past":                     {"", 200, "Expires: $-1\nDate: $0", true}, // if the origin fails
		"Expires to come":                         {"", 200, "Expires: $9\nDate: $0", true},
		"heuristic status":                        {"", 404, "Last-Modified: $-900\nDate: $0", true},
		"no heuristic status":                     {"", 403, "Last-Modified: $-900\nDate: $0", false},
		"unknown status that is public":           {"", 599, "Cache-Control: public\nLast-Modified: $-900\nDate: $0", true},
		"unknown status":                          {"", 599, "Cache-Control: max-age=5", true},
		"unknown status to be understood":         {"", 599, "Cache-Control: max-age=5, must-understand", false},
		"no-store that is understood":             {"", 200, "Cache-Control: max-age=5, no-store, must-understand", true},
		"no-store":                                {"", 200, "Cache-Control: max-age=5, no-store", false},
		"no-store in any case":                    {"", 200, "Cache-Control: max-age=5\nCache-Control: No-Store", false},
		"no-store within quotes":                  {"", 200, `Cache-Control: max-age=5, x="a, no-store"`, true},
		"private":                                 {"", 200, "Cache-Control: max-age=5, private", false},
		"private fields":                          {"", 200, `Cache-Control: max-age=5, private="a"`, true},
		"private field z":                         {"", 200, `Cache-Control: max-age=5, private="z"`, true},
		"private field Z":                         {"", 200, `Cache-Control: max-age=5, private="Z"`, true},
		"private field 0":                         {"", 200, `Cache-Control: max-age=5, private="0"`, true},
		"private field 9":                         {"", 200, `Cache-Control: max-age=5, private="9"`, true},
		"private without a name":                  {"", 200, `Cache-Control: max-age=5, private=" "`, false},
		"no-cache without a validator":            {"", 200, "Cache-Control: no-cache", false},
		"no-cache with one":                       {"", 200, "Cache-Control: no-cache\nETag: W/\"a\"", true},
		"request says no-store":                   {"Cache-Control: no-store", 200, "Cache-Control: max-age=5", false},
		"authorization":                           {"Authorization: a", 200, "Cache-Control: max-age=5", false},
		"authorization, public":                   {"Authorization: a", 200, "Cache-Control: max-age=5, public", true},
		"authorization, s-maxage":                 {"Authorization: a", 200, "Cache-Control: s-maxage=5", true},
		"authorization, must-revalidate":          {"Authorization: a", 200, "Cache-Control: max-age=5, must-revalidate", true},
		"authorization, private":                  {"Authorization: a", 200, "Cache-Control: public, private, max-age=5", false},
		"the client's cookie":                     {"Cookie: a=b", 200, "Cache-Control: max-age=5", false},
		"the client's cookie, must-revalidate":    {"Cookie: a=b", 200, "Cache-Control: max-age=5, must-revalidate", false},
		"the client's cookie, public":             {"Cookie: a=b", 200, "Cache-Control: max-age=5, public", true},
		"a cookie":                                {"", 200, "Cache-Control: public, max-age=5\nSet-Cookie: a=b", false},
		"a key of the client":                     {"X-Api-Key: a", 200, "Cache-Control: max-age=5", false},
		"a key of the client, public":             {"X-Api-Key: a", 200, "Cache-Control: max-age=5, public", true},
		"a session":                               {"Session: a", 200, "Cache-Control: max-age=5", false},
		"a browser":                               {"User-Agent: a\nSec-Fetch-User: ?1", 200, "Cache-Control: max-age=5", true},
		"Vary by everything":                      {"", 200, "Cache-Control: max-age=5\nVary: a\nVary: , *", false},
		"Vary":                                    {"", 200, "Cache-Control: max-age=5\nVary: a", true},
		"a part":                                  {"", 206, "Cache-Control: max-age=5\nContent-Range: bytes 0-1/9", false},
		"a part beyond the end":                   {"Range: bytes=9-", 416, "Cache-Control: max-age=5\nContent-Range: bytes */9", false},
		"a precondition that failed":              {"", 412, "Cache-Control: max-age=5", false},
		"not modified":                            {"", 304, "Cache-Control: max-age=5", false},
		"interim":                                 {"", 103, "Cache-Control: max-age=5", false},
		"over when it came":                       {"", 200, "Cache-Control: s-maxage=5\nAge: 7", false},
		"CDN lifetime beside no-store":            {"", 200, "Cache-Control: no-store\nCDN-Cache-Control: max-age=5", true},
		"CDN no-store beside a lifetime":          {"", 200, "Cache-Control: max-age=5\nCDN-Cache-Control: no-store", false},
		"CDN private beside a lifetime":           {"", 200, "Cache-Control: max-age=5\nCDN-Cache-Control: private", false},
		"CDN lifetime behind a list":              {"", 200, "Cache-Control: no-store\nCDN-Cache-Control: a=(1 2), max-age=5", true},
		"CDN lifetime of the wrong type":          {"", 200, "Cache-Control: no-store\nCDN-Cache-Control: max-age=\"5\"", false},
		"malformed CDN field":                     {"", 200, "Cache-Control: no-store\nCDN-Cache-Control: max-age=5, &&", false},
		"empty CDN field":                         {"", 200, "Cache-Control: no-store\nCDN-Cache-Control:", false},
		"our field beside the one for CDNs":       {"", 200, "CDN-Cache-Control: max-age=5\nCrossgate-Cache-Control: no-store", false},
		"no lifetime, but worth it as it is new":  {"", 200, "Cache-Control: max-age=0, stale-while-revalidate=9", true},
		"no lifetime, but worth it in an outage":  {"", 200, "Cache-Control: max-age=0, stale-if-error=9", true},
		"no lifetime and nothing allowed with it": {"", 200, "Cache-Control: max-age=0, must-revalidate", false},
	} {
		q := header(c.request)
		if got := MayStore(q, response(c.status, c.response), false); got != c.want {
			t.Errorf("%s: stored %t, want %t", name, got, c.want)
		}
	}
	if !MayStore(nil, response(200, "Cache-Control: max-age=5\nSet-Cookie: a=b"), true) {
		t.Error("a cookie is not stored where the operator shares them")
	}
}

func TestStoredFields(t *testing.T) {
	got := Stored(header(`Connection: a, Close
		A: 1
		B: 2
		C: 3
		D: 4
		Age: 5
		TE: 6
		Keep-Alive: 7
		Proxy-Authenticate: 8
		Upgrade: 9
		Transfer-Encoding: x
		Cache-Control: no-cache="b", private="c, D"
		E: 10`))
	want := header("Cache-Control: no-cache=\"b\", private=\"c, D\"\nE: 10")
	golden.Same(t, "stored", want, got)
}

func TestInvalidates(t *testing.T) {
	for _, c := range []struct {
		method string
		status int
		want   bool
	}{
		{"POST", 200, true},
		{"PUT", 302, true},
		{"DELETE", 204, true},
		{"M-SEARCH", 200, true},
		{"POST", 400, false},
		{"PUT", 500, false},
		{"GET", 200, false},
		{"HEAD", 200, false},
		{"OPTIONS", 200, false},
	} {
		if got := Invalidates(c.method, c.status); got != c.want {
			t.Errorf("%s answered %d: %t, want %t", c.method, c.status, got, c.want)
		}
	}
}

func TestInvalidatedAreOfTheSameOrigin(t *testing.T) {
	target := must.Get(url.Parse("http://a.example/x/y?z"))(t)
	for given, want := range map[string]string{
		"Location: w":                      "http://a.example/x/w",
		"Content-Location: /v?u":           "http://a.example/v?u",
		"Location: //b.example/x":          "",
		"Location: https://a.example/":     "",
		"Location: http://a.example:8080/": "",
		"Location: http://[":               "",
		"Location: ":                       "http://a.example/x/y?z",
	} {
		got := ""
		for _, each := range Invalidated(target, header(given)) {
			got += each.String()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", given, got, want)
		}
	}
}

func TestHeadersThatAreKept(t *testing.T) {
	merged := Merge(header("A: 1\nB: 2\nContent-Length: 3\nContent-Encoding: gzip\nCache-Control: max-age=1"),
		header("B: 4\nC: 5\nContent-Length: 9\nContent-Encoding: br\nConnection: c\nCache-Control: max-age=2\nAge: 7"))
	want := header("A: 1\nB: 4\nContent-Length: 3\nContent-Encoding: gzip\nCache-Control: max-age=2")
	golden.Same(t, "merged", want, merged)
}
