package rfc9111

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/dunglas/httpsfv"
	"golang.org/x/net/http/httpguts"
)

// longest caps lifetimes and ages (RFC 9111, section 1.2.2).
const longest = (1 << 31) * time.Second

// Directives are Cache-Control's members by lower-case name; the first of several counts (RFC 9111, section 4.2.1).
type Directives map[string]string

// parseDirectives parses the lines of a Cache-Control field. Malformed members are ignored.
func parseDirectives(lines []string) Directives {
	var found Directives
	for member := range members(lines) {
		name, value, _ := strings.Cut(member, "=")
		if !httpguts.ValidHeaderFieldName(name) {
			continue
		}
		name = strings.ToLower(name)
		if _, known := found[name]; known {
			continue
		}
		if found == nil {
			found = make(Directives)
		}
		found[name] = unquote(value)
	}
	return found
}

func (d Directives) has(name string) bool {
	_, is := d[name]
	return is
}

// span returns a value in delta-seconds. A malformed lifetime counts as zero (RFC 9111, section 4.2.1).
func (d Directives) span(name string) (span time.Duration, given bool) {
	text, given := d[name]
	if !given {
		return 0, false
	}
	span, _ = deltaSeconds(text)
	return span, true
}

// fields returns the field names that no-cache or private is limited to; whole if it is not limited.
func (d Directives) fields(name string) (names []string, whole bool) {
	text, given := d[name]
	if !given {
		return nil, false
	}
	for each := range members([]string{text}) {
		if httpguts.ValidHeaderFieldName(each) {
			names = append(names, http.CanonicalHeaderKey(each))
		}
	}
	return names, len(names) == 0
}

// targets are the targeted fields that a cache in front of an origin obeys, most specific first (RFC 9213).
var targets = []string{"Crossgate-Cache-Control", "Cdn-Cache-Control"}

// directivesOf returns the directives that apply. A targeted field overrides Cache-Control and Expires.
func directivesOf(header http.Header) (found Directives, isTargeted bool) {
	for _, name := range targets {
		if found = parseTargeted(header[name]); len(found) > 0 {
			return found, true
		}
	}
	return parseDirectives(header["Cache-Control"]), false
}

// parseTargeted parses a targeted field, a dictionary of structured fields. A malformed one, or one whose lifetime is
// not an integer, counts as absent (RFC 9213, section 2.1).
func parseTargeted(lines []string) Directives {
	if len(lines) == 0 {
		return nil
	}
	dictionary, err := httpsfv.UnmarshalDictionary(lines)
	if err != nil {
		return nil
	}
	found := make(Directives)
	for _, name := range dictionary.Names() {
		member, _ := dictionary.Get(name)
		item, isItem := member.(httpsfv.Item)
		if !isItem {
			continue
		}
		switch value := item.Value.(type) {
		case bool:
			if value {
				found[name] = ""
			}
		case int64:
			found[name] = strconv.FormatInt(value, 10) // a negative number is malformed and stays so
		default:
			if name == "max-age" || name == "s-maxage" {
				return nil
			}
			found[name], _ = item.Value.(string)
		}
	}
	return found
}

// members iterates over the members of a list, with blanks trimmed. A comma within quotes is part of a member.
func members(lines []string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for _, line := range lines {
			for rest := line; rest != ""; {
				end := memberEnd(rest)
				member := strings.Trim(rest[:end], " \t")
				rest = strings.TrimPrefix(rest[end:], ",")
				if member != "" && !yield(member) {
					return
				}
			}
		}
	}
}

// memberEnd returns where the first member of a list ends.
func memberEnd(text string) int {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '"':
			quoted = !quoted
		case quoted && text[i] == '\\':
			i++
		case !quoted && text[i] == ',':
			return i
		}
	}
	return len(text)
}

// unquote decodes a quoted string, and returns other text unchanged.
func unquote(text string) string {
	if len(text) < 2 || text[0] != '"' || text[len(text)-1] != '"' {
		return text
	}
	var plain strings.Builder
	for i := 1; i < len(text)-1; i++ {
		if text[i] == '\\' && i+1 < len(text)-1 {
			i++
		}
		plain.WriteByte(text[i])
	}
	return plain.String()
}

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
