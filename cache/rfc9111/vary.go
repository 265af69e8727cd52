package rfc9111

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// variesByAll reports whether Vary has a member *: no later request matches (RFC 9111, section 4.1).
func variesByAll(lines []string) bool {
	for member := range members(lines) {
		if member == "*" {
			return true
		}
	}
	return false
}

// Selecting returns the request fields that Vary names, sorted, each once.
func Selecting(header http.Header) []string {
	var names []string
	for member := range members(header["Vary"]) {
		names = append(names, http.CanonicalHeaderKey(member))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// normalized is a selecting field of a request in the form in which it is compared: lines joined, blanks around commas
// left out and, of fields that are weighted lists, members in the order of their weight. Absent is told from empty.
func normalized(header http.Header, name string) (value string, present bool) {
	lines, present := header[name]
	if !present || len(lines) == 0 {
		return "", false
	}
	switch name {
	case "Accept":
		return joinWeighted(weighted(lines)), true
	case "Accept-Charset", "Accept-Encoding", "Accept-Language":
		return joinWeighted(weighted(lowered(lines))), true
	}
	var all []string
	for member := range members(lines) {
		all = append(all, member)
	}
	return strings.Join(all, ","), true
}

// preference is a member of a weighted list.
type preference struct {
	what   string // with its parameters
	weight int    // in thousandths
}

// most is the weight of what is wanted without reserve.
const most = 1000

// weighted reads a weighted list, best first and those of one weight by name (RFC 9110, section 12.4.2). A member whose
// weight cannot be read is taken as it is.
func weighted(lines []string) []preference {
	var all []preference
	for member := range members(lines) {
		p := preference{member, most}
		if at := strings.LastIndexByte(member, ';'); at >= 0 {
			name, text, _ := strings.Cut(strings.TrimSpace(member[at+1:]), "=")
			if weight, known := thousandths(text); known && strings.EqualFold(name, "q") {
				p = preference{strings.TrimSpace(member[:at]), weight}
			}
		}
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b preference) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), strings.Compare(a.what, b.what))
	})
	return all
}

// thousandths reads a qvalue.
func thousandths(text string) (weight int, known bool) {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || !(value >= 0 && value <= 1) {
		return 0, false
	}
	return int(value*most + 0.5), true
}

func joinWeighted(all []preference) string {
	var text strings.Builder
	for i, p := range all {
		if i > 0 {
			text.WriteByte(',')
		}
		text.WriteString(p.what)
		if p.weight != most {
			text.WriteString(";q=" + strconv.Itoa(p.weight))
		}
	}
	return text.String()
}

// Selection is what the selecting fields were of the request that a stored response answered.
type Selection struct {
	Names  []string
	values []string // normalized; absent ones are a byte that no field has
}

const absent = "\x00"

// SelectionOf is the selection of a request for a response.
func SelectionOf(q, response http.Header) Selection {
	s := Selection{Names: Selecting(response)}
	for _, name := range s.Names {
		s.values = append(s.values, selectingValue(q, name))
	}
	return s
}

func selectingValue(q http.Header, name string) string {
	value, present := normalized(q, name)
	if !present {
		return absent
	}
	return value
}

// Matches reports whether a request selects the response (RFC 9111, section 4.1). A language that is wanted more than
// any other selects the response that is in it, whatever else is wanted.
func (s Selection) Matches(q, response http.Header) bool {
	for i, name := range s.Names {
		if selectingValue(q, name) == s.values[i] {
			continue
		}
		if name != "Accept-Language" || !isInFirstLanguage(q, response) {
			return false
		}
	}
	return true
}

// Equal reports whether two selections are of the same requests.
func (s Selection) Equal(other Selection) bool {
	return slices.Equal(s.Names, other.Names) && slices.Equal(s.values, other.values)
}

// isInFirstLanguage reports whether a response is in the one language that a request wants most.
func isInFirstLanguage(q, response http.Header) bool {
	is := response["Content-Language"]
	wanted := weighted(lowered(q["Accept-Language"]))
	if len(is) != 1 || len(wanted) == 0 || wanted[0].weight <= 0 || len(wanted) > 1 && wanted[1].weight == wanted[0].weight {
		return false
	}
	return strings.EqualFold(is[0], wanted[0].what)
}

func lowered(lines []string) []string {
	low := make([]string, len(lines))
	for i, line := range lines {
		low[i] = strings.ToLower(line)
	}
	return low
}
