package rfc9111

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"crossgate/internal/golden"
)

func TestSelections(t *testing.T) {
	for name, c := range map[string]struct {
		response, first, second string
		want                    bool
	}{
		"no Vary":                  {"", "A: 1", "A: 2", true},
		"equal":                    {"Vary: a", "A: 1\nB: 2", "A: 1\nB: 3", true},
		"different":                {"Vary: a", "A: 1", "A: 2", false},
		"left out the second time": {"Vary: a", "A: 1", "", false},
		"left out the first time":  {"Vary: a", "", "A: 1", false},
		"empty is not left out":    {"Vary: a", "A:", "", false},
		"left out both times":      {"Vary: a, b", "A: 1", "A: 1", true},
		"one of two differs":       {"Vary: a\nVary: b", "A: 1\nB: 2", "A: 1\nB: 3", false},
		"lines":                    {"Vary: A", "A: 1, 2", "A: 1\nA: 2", true},
		"blanks may count":         {"Vary: a", "A: 1,2", "A:  1 ,  2 ", false},
		"an empty member counts":   {"Vary: a", "A: 1,", "A: 1", false},
		"order counts":             {"Vary: a", "A: 1, 2", "A: 2, 1", false},
		"a comma within quotes":    {"Vary: a", `A: "1,2"`, "A: 1,2", false},
		"case counts":              {"Vary: a", "A: x", "A: X", false},
		"languages in any case":    {"Vary: accept-language", "Accept-Language: en, de", "Accept-Language: EN,  De", true},
		"codings":                  {"Vary: accept-encoding", "Accept-Encoding: gzip, br", "Accept-Encoding: gzip,BR", true},
		"versions keep their case": {"Vary: accept-version", "Accept-Version: a", "Accept-Version: A", false},
		"types keep their case":    {"Vary: accept", "Accept: a/b;p=X", "Accept: a/b;p=x", false},
	} {
		stored := header(c.response)
		got := SelectionOf(header(c.first), stored).Matches(header(c.second))
		if got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}

func TestNotModified(t *testing.T) {
	for name, c := range map[string]struct {
		request, stored string
		status          int
		want            bool
	}{
		"equal tag":                     {`If-None-Match: "a"`, `ETag: "a"`, 200, true},
		"one of several":                {`If-None-Match: "b", "a" , "c"`, `ETag: "a"`, 200, true},
		"another tag":                   {`If-None-Match: "b"`, `ETag: "a"`, 200, false},
		"weak tags":                     {`If-None-Match: W/"a"`, `ETag: "a"`, 200, true},
		"any":                           {"If-None-Match: *", "", 200, true},
		"no tag":                        {`If-None-Match: "a"`, "", 200, false},
		"the tag counts alone":          {"If-None-Match: \"a\"\nIf-Modified-Since: $-99", "ETag: \"a\"\nLast-Modified: $-9", 200, true},
		"the other tag counts alone":    {"If-None-Match: \"b\"\nIf-Modified-Since: $0", "ETag: \"a\"\nLast-Modified: $-9", 200, false},
		"equal date":                    {"If-Modified-Since: $-9", "Last-Modified: $-9", 200, true},
		"older":                         {"If-Modified-Since: $-8", "Last-Modified: $-9", 200, true},
		"newer":                         {"If-Modified-Since: $-10", "Last-Modified: $-9", 200, false},
		"without a date, by Date":       {"If-Modified-Since: $-8", "Date: $-9", 200, true},
		"without any, by its reception": {"If-Modified-Since: $-1", "", 200, false},
		"no date":                       {"If-Modified-Since: x", "Last-Modified: $-9", 200, false},
		"an old form":                   {"If-Modified-Since: Monday, 23-Nov-26 05:59:51 GMT", "Last-Modified: $-9", 200, true},
		"an error":                      {`If-None-Match: "a"`, `ETag: "a"`, 404, false},
		"no condition":                  {"", `ETag: "a"`, 200, false},
	} {
		if got := NotModified(header(c.request), c.status, header(c.stored), now); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}

func TestConditions(t *testing.T) {
	q := header("If-None-Match: \"x\"\nIf-Range: \"x\"\nA: 1")
	SetConditions(q, header("ETag: \"a\"\nLast-Modified: $-9"))
	want := header("If-None-Match: \"a\"\nIf-Modified-Since: $-9\nA: 1")
	golden.Same(t, "the request", want, q)
	for lines, want := range map[string]bool{"If-Match: *": true, "If-Unmodified-Since: $0": true, "If-None-Match: *": false} {
		if got := HasConditions(header(lines)); got != want {
			t.Errorf("%s: a precondition for the origin is %t, want %t", lines, got, want)
		}
	}
	dated := header("")
	if SetConditions(dated, header("Last-Modified: $-9")); !cmp.Equal(dated, header("If-Modified-Since: $-9")) {
		t.Errorf("without a tag: %v", dated)
	}
	for _, c := range []struct {
		newer, stored string
		want          bool
	}{
		{"", "", true},
		{"", `ETag: "a"`, true},
		{`ETag: "a"`, `ETag: "a"`, true},
		{`ETag: "b"`, `ETag: "a"`, false},
		{`ETag: "a"`, "", false},
	} {
		if got := Updates(header(c.newer), header(c.stored)); got != c.want {
			t.Errorf("304 with %q of what has %q: %t", c.newer, c.stored, got)
		}
	}
}

func TestRanges(t *testing.T) {
	const body = "0123456789"
	for lines, want := range map[string]struct {
		part, contentRange string
		status             int
	}{
		"":                                      {body, "", 200},
		"Range: bytes=0-1":                      {body[0:2], "bytes 0-1/10", 206},
		"Range: bytes=4-":                       {body[4:10], "bytes 4-9/10", 206},
		"Range: Bytes=-3":                       {body[7:10], "bytes 7-9/10", 206},
		"Range: bytes=-30":                      {body[0:10], "bytes 0-9/10", 206},
		"Range: bytes=8-30":                     {body[8:10], "bytes 8-9/10", 206},
		"Range: bytes=10-":                      {"", "bytes */10", 416},
		"Range: bytes=-0":                       {"", "bytes */10", 416},
		"Range: bytes=3-2":                      {body, "", 200},
		"Range: bytes=0-1,3-4":                  {body, "", 200},
		"Range: bytes=0-1\nRange: bytes=2-3":    {body, "", 200},
		"Range: lines=0-1":                      {body, "", 200},
		"Range: bytes=a-":                       {body, "", 200},
		"Range: bytes=+1-2":                     {body, "", 200},
		"Range: bytes=-":                        {body, "", 200},
		"Range: bytes=99999999999999999999999-": {body, "", 200},
		"Range: bytes=0-1\nIf-Range: \"a\"":     {body[0:2], "bytes 0-1/10", 206},
		"Range: bytes=0-1\nIf-Range: \"b\"":     {body, "", 200},
		"Range: bytes=0-1\nIf-Range: W/\"a\"":   {body, "", 200},
		"Range: bytes=0-1\nIf-Range: $-900":     {body[0:2], "bytes 0-1/10", 206},
		"Range: bytes=0-1\nIf-Range: $-901":     {body, "", 200},
	} {
		stored := header("ETag: \"a\"\nLast-Modified: $-900\nDate: $0")
		part, contentRange, status := RangeOf(header(lines), stored, []byte(body))
		if string(part) != want.part || contentRange != want.contentRange || status != want.status {
			t.Errorf("%q: %q, %s, %d, want %v", lines, part, contentRange, status, want)
		}
	}
}

func TestStatus(t *testing.T) {
	for want, s := range map[string]Status{
		"c; hit; ttl=9":                                      {Hit: true, TTL: 9e9},
		"c; hit; ttl=-2; detail=origin-failed":               {Hit: true, TTL: -2e9, Detail: "origin-failed"},
		"c; fwd=uri-miss; fwd-status=200; stored; collapsed": {Forwarded: "uri-miss", Answered: 200, Stored: true, Collapsed: true},
	} {
		if got := string(s.Append(nil, "c")); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
