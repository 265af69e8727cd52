package rfc9111

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Extent is a part of a stored body: the bytes from First up to but not including End.
type Extent struct{ First, End int64 }

// ContentRange returns the Content-Range for a part of a body of total bytes.
func (e Extent) ContentRange(total int64) string {
	return "bytes " + strconv.FormatInt(e.First, 10) + "-" + strconv.FormatInt(e.End-1, 10) + "/" + strconv.FormatInt(total, 10)
}

func number(text string) (int64, bool) {
	n, err := strconv.ParseUint(text, 10, 63)
	return int64(n), err == nil
}

// Wanted is what a request's Range field selects.
type Wanted uint8

// The kinds of ranges.
const (
	All           Wanted = iota // no range, or an ignored one: several, malformed, of another representation
	Part                        // a part of the representation
	Unsatisfiable               // the range is beyond its end
)

// RangeOf returns which part of a stored body of total bytes a GET asks for (RFC 9110, sections 13.1.5 and 14.2).
func RangeOf(q, stored http.Header, total int64) (Extent, Wanted) {
	lines := q["Range"]
	if len(lines) != 1 || !rangeHolds(q, stored) {
		return Extent{}, All
	}
	unit, text, isSet := strings.Cut(lines[0], "=")
	first, last, isRange := strings.Cut(strings.Trim(text, " \t"), "-")
	if !isSet || !isRange || !strings.EqualFold(unit, "bytes") {
		return Extent{}, All
	}
	from, hasFirst := number(first)
	to, hasLast := number(last)
	switch {
	case first == "" && hasLast: // a suffix range
		if to == 0 || total == 0 {
			return Extent{}, Unsatisfiable
		}
		return Extent{max(0, total-to), total}, Part
	case !hasFirst, last != "" && !hasLast, hasLast && to < from:
		return Extent{}, All
	case from >= total:
		return Extent{}, Unsatisfiable
	case !hasLast:
		return Extent{from, total}, Part
	}
	return Extent{from, min(to, total-1) + 1}, Part
}

// rangeHolds reports whether If-Range, if present, matches the stored representation. A date is a strong validator if
// it is at least a minute older than the response (RFC 9110, section 8.8.2.2).
func rangeHolds(q, stored http.Header) bool {
	lines := q["If-Range"]
	if len(lines) == 0 {
		return true
	}
	if strings.HasPrefix(lines[0], `"`) { // a strong tag
		return len(stored["Etag"]) > 0 && stored["Etag"][0] == lines[0]
	}
	given, known := parseDate(lines[0])
	modified, isKept := dateOf(stored, "Last-Modified")
	date, dated := dateOf(stored, "Date")
	return known && isKept && dated && given.Equal(modified) && date.Sub(modified) >= time.Minute
}
