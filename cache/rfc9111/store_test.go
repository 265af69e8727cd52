package rfc9111

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMayStore(t *testing.T) {
	for name, c := range map[string]struct {
		method, request string
		status          int
		response        string
		want            bool
	}{
		"a lifetime":                              {"GET", "", 200, "Cache-Control: max-age=1", true},
		"nothing said":                            {"GET", "", 200, "", false},
		"a validator":                             {"GET", "", 200, `ETag: "a"`, true},
		"Expires in the past":                     {"GET", "", 200, "Expires: $-1\nDate: $0", true}, // the origin may fail
		"Expires to come":                         {"GET", "", 200, "Expires: $9\nDate: $0", true},
		"heuristic status":                        {"GET", "", 404, "Last-Modified: $-900\nDate: $0", true},
		"no heuristic status":                     {"GET", "", 403, "Last-Modified: $-900\nDate: $0", false},
		"unknown status that is public":           {"GET", "", 599, "Cache-Control: public\nLast-Modified: $-900\nDate: $0", true},
		"unknown status":                          {"GET", "", 599, "Cache-Control: max-age=5", true},
		"unknown status to be understood":         {"GET", "", 599, "Cache-Control: max-age=5, must-understand", false},
		"no-store that is understood":             {"GET", "", 200, "Cache-Control: max-age=5, no-store, must-understand", true},
		"no-store":                                {"GET", "", 200, "Cache-Control: max-age=5, no-store", false},
		"no-store in any case":                    {"GET", "", 200, "Cache-Control: max-age=5\nCache-Control: No-Store", false},
		"no-store within quotes":                  {"GET", "", 200, `Cache-Control: max-age=5, x="a, no-store"`, true},
		"private":                                 {"GET", "", 200, "Cache-Control: max-age=5, private", false},
		"private fields":                          {"GET", "", 200, `Cache-Control: max-age=5, private="a"`, true},
		"private without a name":                  {"GET", "", 200, `Cache-Control: max-age=5, private=" "`, false},
		"no-cache without a validator":            {"GET", "", 200, "Cache-Control: no-cache", false},
		"no-cache with one":                       {"GET", "", 200, "Cache-Control: no-cache\nETag: W/\"a\"", true},
		"request says no-store":                   {"GET", "Cache-Control: no-store", 200, "Cache-Control: max-age=5", false},
		"authorization":                           {"GET", "Authorization: a", 200, "Cache-Control: max-age=5", false},
		"authorization, public":                   {"GET", "Authorization: a", 200, "Cache-Control: max-age=5, public", true},
		"authorization, s-maxage":                 {"GET", "Authorization: a", 200, "Cache-Control: s-maxage=5", true},
		"authorization, must-revalidate":          {"GET", "Authorization: a", 200, "Cache-Control: max-age=5, must-revalidate", true},
		"authorization, private":                  {"GET", "Authorization: a", 200, "Cache-Control: public, private, max-age=5", false},
		"a cookie":                                {"GET", "Cookie: a=b", 200, "Cache-Control: max-age=5", false},
		"a cookie, must-revalidate":               {"GET", "Cookie: a=b", 200, "Cache-Control: max-age=5, must-revalidate", false},
		"a cookie, public":                        {"GET", "Cookie: a=b", 200, "Cache-Control: max-age=5, public", true},
		"Set-Cookie":                              {"GET", "", 200, "Cache-Control: max-age=5, public\nSet-Cookie: a=b", false},
		"Vary by everything":                      {"GET", "", 200, "Cache-Control: max-age=5\nVary: a\nVary: , *", false},
		"Vary":                                    {"GET", "", 200, "Cache-Control: max-age=5\nVary: a", true},
		"a part":                                  {"GET", "", 206, "Cache-Control: max-age=5\nContent-Range: bytes 0-1/9", true},
		"not modified":                            {"GET", "", 304, "Cache-Control: max-age=5", false},
		"interim":                                 {"GET", "", 103, "Cache-Control: max-age=5", false},
		"HEAD":                                    {"HEAD", "", 200, "Cache-Control: max-age=5", false},
		"PUT":                                     {"PUT", "", 200, "Cache-Control: max-age=5", false},
		"POST":                                    {"POST", "", 200, "Cache-Control: max-age=5", false},
		"POST about its target":                   {"POST", "", 200, "Cache-Control: max-age=5\nContent-Location: /a", true},
		"POST without a lifetime":                 {"POST", "", 200, "ETag: \"a\"\nContent-Location: /a", false},
		"over when it came":                       {"GET", "", 200, "Cache-Control: s-maxage=5\nAge: 7", false},
		"CDN lifetime beside no-store":            {"GET", "", 200, "Cache-Control: no-store\nCDN-Cache-Control: max-age=5", true},
		"CDN no-store beside a lifetime":          {"GET", "", 200, "Cache-Control: max-age=5\nCDN-Cache-Control: no-store", false},
		"CDN private beside a lifetime":           {"GET", "", 200, "Cache-Control: max-age=5\nCDN-Cache-Control: private", false},
		"CDN lifetime of the wrong type":          {"GET", "", 200, "Cache-Control: no-store\nCDN-Cache-Control: max-age=\"5\"", false},
		"malformed CDN field":                     {"GET", "", 200, "Cache-Control: no-store\nCDN-Cache-Control: max-age=5, &&", false},
		"empty CDN field":                         {"GET", "", 200, "Cache-Control: no-store\nCDN-Cache-Control:", false},
		"our field beside the one for CDNs":       {"GET", "", 200, "CDN-Cache-Control: max-age=5\nCrossgate-Cache-Control: no-store", false},
		"no lifetime, but worth it as it is new":  {"GET", "", 200, "Cache-Control: max-age=0, stale-while-revalidate=9", true},
		"no lifetime, but worth it in an outage":  {"GET", "", 200, "Cache-Control: max-age=0, stale-if-error=9", true},
		"no lifetime and nothing allowed with it": {"GET", "", 200, "Cache-Control: max-age=0, must-revalidate", false},
	} {
		q := Request{c.method, header(c.request), []string{"Cookie"}}
		if got := MayStore(q, response(c.status, c.response), usual); got != c.want {
			t.Errorf("%s: stored %t, want %t", name, got, c.want)
		}
	}
}

func TestCookiesAreStoredWhereTheOperatorSaysSo(t *testing.T) {
	o := usual
	o.SetCookie = true
	if !MayStore(Request{Method: "GET"}, response(200, "Cache-Control: max-age=5\nSet-Cookie: a=b"), o) {
		t.Error("not stored")
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
	if difference := cmp.Diff(want, got); difference != "" {
		t.Error(difference)
	}
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
	target := mustParse(t, "http://a.example/x/y?z")
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
	if !IsAboutTarget(target, header("Content-Location: y?z")) || IsAboutTarget(target, header("Content-Location: y")) {
		t.Error("Content-Location is not told from the target")
	}
}

func TestHeadersThatAreKept(t *testing.T) {
	merged := Merge(header("A: 1\nB: 2\nContent-Length: 3\nContent-Encoding: gzip\nCache-Control: max-age=1"),
		header("B: 4\nC: 5\nContent-Length: 9\nContent-Encoding: br\nConnection: c\nCache-Control: max-age=2\nAge: 7"))
	want := header("A: 1\nB: 4\nContent-Length: 3\nContent-Encoding: gzip\nCache-Control: max-age=2")
	if difference := cmp.Diff(want, merged); difference != "" {
		t.Error(difference)
	}
}
