package rfc9111

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// deltaSeconds parses digits (RFC 9111, section 1.2.2), capped at longest.
func deltaSeconds(text string) (time.Duration, bool) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	seconds, _ := strconv.ParseInt(text, 10, 64) // the largest number if it overflows
	return time.Duration(min(seconds, int64(longest/time.Second))) * time.Second, true
}

// parseDate parses the three date formats (RFC 9110, section 5.6.7) in any case, with any day name.
func parseDate(text string) (time.Time, bool) {
	upper := strings.ToUpper(text)
	for _, layout := range []string{http.TimeFormat, "Monday, 02-Jan-06 15:04:05 GMT", time.ANSIC} {
		at, err := time.ParseInLocation(layout, upper, time.UTC)
		if err != nil || !strings.EqualFold(withoutDay(at.Format(layout)), withoutDay(text)) {
			continue // time.Parse skips blanks
		}
		return at, true
	}
	return time.Time{}, false
}

func withoutDay(text string) string {
	if _, rest, found := strings.Cut(text, ","); found {
		return rest
	}
	_, rest, _ := strings.Cut(text, " ")
	return rest
}

// dateOf returns the date in a field. The first line counts.
func dateOf(header http.Header, name string) (time.Time, bool) {
	lines := header[name]
	if len(lines) == 0 {
		return time.Time{}, false
	}
	return parseDate(lines[0])
}
