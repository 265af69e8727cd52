package rfc9111

import (
	"testing"
	"time"
)

func TestLifetimes(t *testing.T) {
	const s = time.Second
	for lines, want := range map[string]time.Duration{
		"":                                                         0,
		"Cache-Control: max-age=9":                                 9 * s,
		"Cache-Control: max-age=\"9\"":                             9 * s,
		"Cache-Control: MAX-AGE=9":                                 9 * s,
		"Cache-Control: max-age=\"\\9\"":                           9 * s,
		"Cache-Control: max-age=\"19":                              0,
		"Cache-Control: max-age=19\"":                              0,
		"Cache-Control: max-age=009":                               9 * s,
		"Cache-Control: max-age=9, max-age=1":                      9 * s,
		"Cache-Control: max-age=1\nCache-Control: max-age=9":       s,
		"Cache-Control: max-age='9'":                               0,
		"Cache-Control: max-age=9.0":                               0,
		"Cache-Control: max-age=-9":                                0,
		"Cache-Control: max-age":                                   0,
		"Cache-Control: max-age =9":                                0,
		"Cache-Control: max-age= 9":                                0,
		"Cache-Control: max-age=99999999999":                       longest,
		"Cache-Control: x=\"max-age=9\", max-age=1":                s,
		"Cache-Control: max-age=1, x=\"max-age=9\"":                s,
		"Cache-Control: x=\"a\\\", max-age=9\"":                    0,
		"Cache-Control: x=\"a, max-age=9":                          0,
		"Cache-Control: max-age=1, s-maxage=9":                     9 * s,
		"Cache-Control: s-maxage=1, max-age=9":                     s,
		"Cache-Control: s-maxage=x, max-age=9":                     0,
		"Expires: $9\nDate: $0":                                    9 * s,
		"Expires: $9\nDate: $-90":                                  99 * s,
		"Expires: $9":                                              9 * s,
		"Expires: $-9\nDate: $0":                                   0,
		"Expires: 0\nDate: $0":                                     0,
		"Expires: $9\nExpires: $90\nDate: $0":                      9 * s,
		"Expires: 0\nLast-Modified: $-900\nDate: $0":               0,
		"Expires: $9\nDate: $0\nCache-Control: max-age=1":          s,
		"Expires: $-9\nDate: $0\nCache-Control: max-age=1":         s,
		"Last-Modified: $-900\nDate: $0":                           90 * s,
		"Last-Modified: $-900":                                     90 * s,
		"Last-Modified: $900\nDate: $0":                            0,
		"Last-Modified: $-99999999\nDate: $0":                      24 * time.Hour,
		"CDN-Cache-Control: max-age=9":                             9 * s,
		"CDN-Cache-Control: max-age=9\nCache-Control: max-age=1":   9 * s,
		"CDN-Cache-Control: max-age=1\nCache-Control: s-maxage=9":  s,
		"CDN-Cache-Control: max-age=99999999999":                   longest,
		"CDN-Cache-Control: x\nExpires: $9\nDate: $0":              0,
		"CDN-Cache-Control: x, max-age=9\nExpires: 0":              9 * s,
		"CDN-Cache-Control: max-age=9.5\nCache-Control: max-age=1": s,
		"CDN-Cache-Control: Max-Age=9\nCache-Control: max-age=1":   s,
		"CDN-Cache-Control: max-age=-9":                            0,
	} {
		if got := PolicyOf(response(200, lines)).Lifetime; got != want {
			t.Errorf("%q: %v, want %v", lines, got, want)
		}
	}
}

func TestAges(t *testing.T) {
	const s = time.Second
	for lines, want := range map[string]time.Duration{
		"":                   0,
		"Age: 7":             7 * s,
		"Age: 7\nAge: 0":     7 * s,
		"Age: 0, 7":          0,
		"Age: 7, 0":          7 * s,
		"Age: x":             0,
		"Age: -7":            0,
		"Age: 7.0":           0,
		"Age: 7;a=b":         0,
		"Age: 2147483649":    longest,
		"Date: $-9":          9 * s,
		"Date: $9":           0,
		"Date: x":            0,
		"Date: $-9\nAge: 7":  9 * s,
		"Date: $-9\nAge: 70": 70 * s,
	} {
		if got := ageOf(response(200, lines)); got != want {
			t.Errorf("%q: %v, want %v", lines, got, want)
		}
	}
	slow := response(200, "Age: 7")
	slow.Requested = now.Add(-3 * s)
	p := PolicyOf(slow)
	if got := p.AgeAt(now.Add(5 * s)); got != 15*s {
		t.Errorf("after 3 s on the way and 5 s in the cache: %v, want 15s", got)
	}
}

func TestUses(t *testing.T) {
	for name, c := range map[string]struct {
		response string
		age      time.Duration
		request  string
		ended    bool
		want     Use
	}{
		"fresh":                         {"max-age=9", 8, "", false, Serve},
		"stale":                         {"max-age=9", 9, "", false, Validate},
		"no-cache":                      {"max-age=9, no-cache", 0, "", false, Validate},
		"no-cache of a field":           {`max-age=9, no-cache="a"`, 0, "", false, Serve},
		"while it is validated":         {"max-age=9, stale-while-revalidate=3", 11, "", false, ServeWhileValidating},
		"after that":                    {"max-age=9, stale-while-revalidate=3", 12, "", false, Validate},
		"must-revalidate forbids that":  {"max-age=9, stale-while-revalidate=3, must-revalidate", 10, "", false, Validate},
		"proxy-revalidate forbids that": {"max-age=9, stale-while-revalidate=3, proxy-revalidate", 10, "", false, Validate},
		"request has no-cache":          {"max-age=9", 1, "Cache-Control: no-cache", false, Validate},
		"request has Pragma":            {"max-age=9", 1, "Pragma: no-cache", false, Validate},
		"request has Pragma in vain":    {"max-age=9", 1, "Pragma: no-cache\nCache-Control: x", false, Serve},
		"request has max-age":           {"max-age=9", 3, "Cache-Control: max-age=3", false, Serve},
		"older than the request's":      {"max-age=9", 4, "Cache-Control: max-age=3", false, Validate},
		"immutable":                     {"max-age=9, immutable", 4, "Cache-Control: max-age=0", false, Serve},
		"immutable, but stale":          {"max-age=9, immutable", 10, "Cache-Control: max-age=0", false, Validate},
		"immutable, but not wanted":     {"max-age=9, immutable", 4, "Cache-Control: no-cache", false, Validate},
		"ended":                         {"max-age=9", 1, "", true, Validate},
		"ended, stale-while-revalidate": {"max-age=9, stale-while-revalidate=3", 1, "", true, ServeWhileValidating},
		"ended, must-revalidate":        {"max-age=9, stale-while-revalidate=3, must-revalidate", 1, "", true, Validate},
	} {
		p := PolicyOf(response(200, "Cache-Control: "+c.response))
		q := header(c.request)
		if got := UseOf(q, p, c.ended, now.Add(c.age*time.Second)); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

func TestServingInAnOutage(t *testing.T) {
	for name, c := range map[string]struct {
		response, request string
		after             time.Duration // since the response became stale
		want              bool
	}{
		"by the operator's leave":  {"max-age=9", "", 59 * time.Minute, true},
		"not for ever":             {"max-age=9", "", time.Hour, false},
		"by its own":               {"max-age=9, stale-if-error=7", "", 6 * time.Second, true},
		"its own is less":          {"max-age=9, stale-if-error=7", "", 7 * time.Second, false},
		"must-revalidate":          {"max-age=9, must-revalidate, stale-if-error=7", "", time.Second, false},
		"proxy-revalidate":         {"max-age=9, proxy-revalidate", "", time.Second, false},
		"s-maxage":                 {"s-maxage=9", "", time.Second, false},
		"no-cache":                 {"max-age=9, no-cache", "", time.Second, false},
		"the request wants it new": {"max-age=9", "Cache-Control: no-cache", time.Second, false},
	} {
		p := PolicyOf(response(200, "Cache-Control: "+c.response))
		if got := MayServeOnError(header(c.request), p, now.Add(9*time.Second+c.after)); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}
