package rfc9111

import (
	"net/http"
	"slices"
	"strings"
)

// Selecting returns the request fields that Vary names, sorted, each once.
func Selecting(header http.Header) []string {
	var names []string
	for member := range members(header["Vary"]) {
		names = append(names, http.CanonicalHeaderKey(member))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Selection is what the selecting fields were of the request that a stored response answered.
type Selection struct{ names, values []string }

// SelectionOf is the selection of a request for a response.
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

// Equal reports whether two selections are of the same requests.
func (s Selection) Equal(other Selection) bool {
	return slices.Equal(s.names, other.names) && slices.Equal(s.values, other.values)
}

// lists are the selecting fields that are known to be lists of words in any case.
var lists = []string{"Accept-Charset", "Accept-Encoding", "Accept-Language"}

// normalized is a selecting field of a request in the form in which it is compared: lines joined. In lists of
// languages, codings and character sets neither blanks nor case count; of other fields it is not known. An absent field
// is a byte that no field has.
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
