package rfc9111

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Extent is a part of a representation: bytes from First on, before End, of Total. The zero extent is none.
type Extent struct{ First, End, Total int64 }

// FullExtent is the extent of all of a representation.
func FullExtent(total int64) Extent { return Extent{0, total, total} }

// IsWhole reports whether nothing is missing.
func (e Extent) IsWhole() bool { return e.First == 0 && e.End == e.Total }

// Len is the number of bytes.
func (e Extent) Len() int64 { return e.End - e.First }

// Covers reports whether e has all bytes of other.
func (e Extent) Covers(other Extent) bool { return e.First <= other.First && other.End <= e.End }

// String is the value of Content-Range.
func (e Extent) String() string {
	return "bytes " + strconv.FormatInt(e.First, 10) + "-" + strconv.FormatInt(e.End-1, 10) + "/" + strconv.FormatInt(e.Total, 10)
}

// ContentRange reads the Content-Range of a 206 with one part of known total length (RFC 9110, section 14.4).
func ContentRange(header http.Header) (Extent, bool) {
	lines := header["Content-Range"]
	if len(lines) != 1 {
		return Extent{}, false
	}
	unit, text, _ := strings.Cut(lines[0], " ")
	part, whole, _ := strings.Cut(text, "/")
	first, last, isPart := strings.Cut(part, "-")
	var e Extent
	var ok [3]bool
	e.First, ok[0] = number(first)
	e.End, ok[1] = number(last)
	e.Total, ok[2] = number(whole)
	e.End++
	isRange := isPart && ok[0] && ok[1] && ok[2] && e.First < e.End && e.End <= e.Total
	return e, isRange && strings.EqualFold(unit, "bytes")
}

// number reads digits.
func number(text string) (int64, bool) {
	const mostDigits = 18
	if text == "" || len(text) > mostDigits || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}

// Wanted is what the Range field of a request asks for.
type Wanted uint8

// What a request may want.
const (
	All           Wanted = iota // no range, or one that is ignored: several, malformed, of another representation
	Part                        // of the representation
	Unsatisfiable               // nothing of it is within the range
)

// RangeOf reads which part of a stored representation a GET asks for (RFC 9110, sections 13.1.5 and 14.2).
func RangeOf(q Request, stored http.Header, total int64, now time.Time) (Extent, Wanted) {
	lines := q.Header["Range"]
	if q.Method != http.MethodGet || len(lines) != 1 || !rangeHolds(q.Header, stored, now) {
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
	case first == "" && hasLast: // the last bytes
		if to == 0 || total == 0 {
			return Extent{}, Unsatisfiable
		}
		return Extent{max(0, total-to), total, total}, Part
	case !hasFirst, last != "" && !hasLast, hasLast && to < from:
		return Extent{}, All
	case from >= total:
		return Extent{}, Unsatisfiable
	case !hasLast:
		return Extent{from, total, total}, Part
	}
	return Extent{from, min(to+1, total), total}, Part
}

// rangeHolds reports whether If-Range, if there is one, is about the stored representation.
func rangeHolds(q, stored http.Header, now time.Time) bool {
	lines := q["If-Range"]
	if len(lines) == 0 {
		return true
	}
	if isStrong(lines[0]) {
		return len(stored["Etag"]) > 0 && stored["Etag"][0] == lines[0]
	}
	given, known := parseDate(lines[0], now)
	modified, isKept := strongDate(stored, now)
	return known && isKept && given.Equal(modified)
}

// Combine joins the stored part of a representation with another part of it, where they overlap or touch and have the
// same strong validator (RFC 9111, section 3.4).
func Combine(a Extent, bodyA []byte, b Extent, bodyB []byte) (Extent, []byte, bool) {
	if b.First < a.First {
		a, bodyA, b, bodyB = b, bodyB, a, bodyA
	}
	if a.Total != b.Total || b.First > a.End {
		return Extent{}, nil, false
	}
	if b.End <= a.End {
		return a, bodyA, true
	}
	joined := make([]byte, 0, b.End-a.First)
	joined = append(joined, bodyA...)
	joined = append(joined, bodyB[a.End-b.First:]...)
	return Extent{a.First, b.End, a.Total}, joined, true
}

// Missing returns the part that joins a stored one to what is needed, where that is in one piece (RFC 9111, section
// 3.4).
func Missing(stored, needed Extent) (Extent, bool) {
	switch {
	case needed.First >= stored.First && needed.First <= stored.End && needed.End > stored.End:
		return Extent{stored.End, needed.End, stored.Total}, true
	case needed.First < stored.First && needed.End >= stored.First && needed.End <= stored.End:
		return Extent{needed.First, stored.First, stored.Total}, true
	}
	return Extent{}, false
}

// AskForPart makes a request ask for a part of a stored response, or for all of what has taken its place (RFC 9110,
// section 13.1.5). It reports whether the response has a strong validator, without which no part could be joined to it.
func AskForPart(q, stored http.Header, part Extent, now time.Time) bool {
	if !SameStrong(stored, stored, now) {
		return false
	}
	for _, name := range Conditions {
		delete(q, name)
	}
	validator := stored["Etag"]
	if len(validator) == 0 {
		validator = stored["Last-Modified"]
	}
	q["If-Range"] = validator[:1:1]
	q["Range"] = []string{"bytes=" + strconv.FormatInt(part.First, 10) + "-" + strconv.FormatInt(part.End-1, 10)}
	return true
}
