package rfc9111

import (
	"net/http"
	"testing"
)

// FuzzResponse reads responses with arbitrary fields: lifetimes never exceed the longest, and restrictions that keep
// others from a response are never lost.
func FuzzResponse(f *testing.F) {
	f.Add("max-age=1, no-store", "max-age=1", "Thu, 18 Aug 2050 02:01:18 GMT", "1", "a, *")
	f.Add(`private="a", max-age="1"`, "", "0", "1, 2", "a")
	f.Add("max-age=60", "", "Mon, 01 Jan 0001 00:00:00 GMT", "1", "")
	f.Fuzz(func(t *testing.T, control, targeted, date, age, vary string) {
		r := Response{Status: 200, Requested: now, Received: now, Header: http.Header{
			"Cache-Control": {control}, "Expires": {date}, "Last-Modified": {date}, "Age": {age}, "Vary": {vary},
		}}
		if age != "" {
			r.Header["Date"] = []string{date}
		}
		if targeted != "" {
			r.Header["Cdn-Cache-Control"] = []string{targeted}
		}
		p := PolicyOf(r)
		if p.Lifetime < 0 || p.Lifetime > longest || p.Age < 0 || p.Age > longest {
			t.Errorf("lifetime %v, age %v", p.Lifetime, p.Age)
		}
		if soon, late := p.FreshFor(now), p.FreshFor(now.AddDate(200, 0, 0)); late > soon || late > 0 {
			t.Errorf("fresh for %v now and for %v in 200 years", soon, late)
		}
		if at, known := parseDate(date); known {
			if again, still := parseDate(at.Format(http.TimeFormat)); !still || !again.Equal(at) {
				t.Errorf("date %q is read as %v and then as %v", date, at, again)
			}
		}
		s := SelectionOf(http.Header{"Accept-Language": {control}, "A": {date}}, r.Header)
		if MayStore(http.Header{}, r, false) && !s.Matches(http.Header{"Accept-Language": {control}, "A": {date}}) {
			t.Errorf("Vary %q: a request does not select its own response", vary)
		}
	})
}

// FuzzRange requests arbitrary ranges of a representation. The range returned lies within it.
func FuzzRange(f *testing.F) {
	f.Add("bytes=0-1", `"a"`, int64(9))
	f.Add("bytes=-5", "", int64(0))
	f.Fuzz(func(t *testing.T, text, condition string, total int64) {
		q := http.Header{"Range": {text}, "If-Range": {condition}}
		body := make([]byte, max(total%1000, 0))
		part, contentRange, status := RangeOf(q, http.Header{"Etag": {`"a"`}}, body)
		if status == http.StatusPartialContent && len(part) == 0 || status == http.StatusOK && len(part) != len(body) {
			t.Errorf("%q of %d: %d bytes, %s, %d", text, len(body), len(part), contentRange, status)
		}
	})
}
