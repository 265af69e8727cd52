package rfc9111

import (
	"net/http"
	"slices"
	"strings"
)

// Selecting returns the request fields that Vary lists, sorted and without duplicates.
func Selecting(header http.Header) []string {
	var names []string
	for member := range members(header["Vary"]) {
		names = append(names, http.CanonicalHeaderKey(member))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Selection holds the selecting fields of the request that a stored response answered.
type Selection struct{ names, values []string }

// SelectionOf returns the selection of a request for a response.
func SelectionOf(q, response http.Header) Selection {
	s := Selection{names: Selecting(response)}
	for _, name := range s.names {
		s.values = append(s.values, normalized(q, name))
	}
	return s
}

// Matches reports whether a request selects the response (RFC 9111, section 4.1).
func (s Selection) Matches(q http.Header) bool {
	for i, name := range s.names {
		if normalized(q, name) != s.values[i] {
			return false
		}
	}
	return true
}

// Equal reports whether two selections match the same requests.
func (s Selection) Equal(other Selection) bool {
	return slices.Equal(s.names, other.names) && slices.Equal(s.values, other.values)
}

// lists are the selecting fields known to be lists of case-insensitive words.
var lists = []string{"Accept-Charset", "Accept-Encoding", "Accept-Language"}

// normalized returns a selecting field of a request for comparison, with its lines joined. Blanks and case do not
// matter in lists of languages, codings and character sets; in other fields they may. An absent field becomes a byte
// that no field contains.
func normalized(header http.Header, name string) string {
	lines := header[name]
	if len(lines) == 0 {
		return "\x00"
	}
	if slices.Contains(lists, name) {
		return strings.ToLower(strings.Join(slices.Collect(members(lines)), ","))
	}
	return strings.Join(lines, ", ")
}
