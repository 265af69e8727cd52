package rfc9111

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// RangeOf returns the part of a stored body that a GET asks for, with its Content-Range and the status: 206, 416 if the
// range is beyond the end, or 200 with the whole body without a range, or with one that is ignored: several, malformed,
// of another representation (RFC 9110, sections 13.1.5 and 14.2).
func RangeOf(q, stored http.Header, body []byte) (part []byte, contentRange string, status int) {
	lines, total := q["Range"], int64(len(body))
	if len(lines) != 1 || !rangeHolds(q, stored) {
		return body, "", http.StatusOK
	}
	unit, text, _ := strings.Cut(lines[0], "=")
	first, last, isRange := strings.Cut(strings.Trim(text, " \t"), "-")
	from, errFirst := strconv.ParseUint(first, 10, 63)
	to, errLast := strconv.ParseUint(last, 10, 63)
	begin, end := int64(from), min(int64(to), total-1)+1
	switch {
	case !isRange, !strings.EqualFold(unit, "bytes"), first != "" && errFirst != nil, last != "" && errLast != nil,
		first+last == "", first != "" && last != "" && to < from:
		return body, "", http.StatusOK
	case first == "": // a suffix range
		begin, end = max(0, total-int64(to)), total
	case last == "":
		end = total
	}
	if begin >= total {
		return nil, fmt.Sprintf("bytes */%d", total), http.StatusRequestedRangeNotSatisfiable
	}
	return body[begin:end], fmt.Sprintf("bytes %d-%d/%d", begin, end-1, total), http.StatusPartialContent
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
