package jsonrpc

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// longestShort is the longest wait that is due to a rate, and not to a plan's day or month.
const longestShort = 2 * time.Minute

// hints are the contents of JSON: strings, and numbers by their names in lower case.
type hints struct {
	texts   []string
	numbers map[string]float64
}

// hints reads the data. Servers put a string there, or an object that may contain others.
func (e *Error) hints() hints {
	found := hints{numbers: make(map[string]float64)}
	var data any
	if len(e.Data) > 0 && json.Unmarshal(e.Data, &data) == nil {
		found.add("", data, 0, nil)
	}
	return found
}

// saying matches names of members that carry a server's messages, wherever they are.
var saying = regexp.MustCompile(`message|msg|error|detail|reason|title|descri|cause`)

// textsIn returns the messages in an object's members, however a server arranges them.
func textsIn(body []byte) []string {
	found := hints{numbers: make(map[string]float64)}
	var object map[string]any
	if json.Unmarshal(body, &object) == nil {
		found.add("", object, 0, saying)
	}
	return found.texts
}

const deepestHint = 4

// add collects the contents of a value; only, if not nil, restricts them to members whose names match it.
func (h *hints) add(name string, value any, depth int, only *regexp.Regexp) {
	switch value := value.(type) {
	case string:
		if !hexText.MatchString(strings.ToLower(value)) {
			h.texts = append(h.texts, value)
		}
	case float64:
		h.numbers[name] = value
	case []any:
		for _, each := range value {
			h.add(name, each, depth, only)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if lower := strings.ToLower(key); depth < deepestHint && (only == nil || only.MatchString(lower)) {
				h.add(lower, value[key], depth+1, only)
			}
		}
	}
}

var waitWords = regexp.MustCompile(`(?:suspended for|(?:try|retry|retrying|wait|again|backoff|reset)[a-z ]*(?:in|after|for)?:?) ?` +
	`(\d+(?:\.\d+)?) ?(ms|milliseconds?|s\b|sec\w*|m\b|min\w*|h\b|hours?)`)

// longestWait is the longest wait that counts. A longer one means a date, or nothing.
const longestWait = 366 * 24 * time.Hour

// Wait returns how long the endpoint wants us to wait, if the error or the response's header says so.
func (e *Error) Wait() (wait time.Duration, told bool) {
	if e.pause > 0 {
		return min(e.pause, longestWait), true
	}
	return e.saidWait()
}

// saidWait is Wait without the response's header.
func (e *Error) saidWait() (time.Duration, bool) {
	numbers := e.hints().numbers
	for _, word := range []string{"backoff", "retry", "wait"} {
		for _, name := range slices.Sorted(maps.Keys(numbers)) {
			n, unit := numbers[name], time.Second
			if strings.HasSuffix(name, "ms") || strings.Contains(name, "milli") {
				unit = time.Millisecond
			}
			if strings.Contains(name, word) && n >= 1 && n < 1<<53 {
				return waitOf(n, unit), true
			}
		}
	}
	found := waitWords.FindStringSubmatch(e.text())
	if found == nil {
		return 0, false
	}
	n, err := strconv.ParseFloat(found[1], 64)
	unit := time.Second
	switch text := found[2]; {
	case text == "ms", strings.HasPrefix(text, "milli"):
		unit = time.Millisecond
	case text[0] == 'm':
		unit = time.Minute
	case text[0] == 'h':
		unit = time.Hour
	}
	wait := waitOf(n, unit)
	return wait, err == nil && wait > 0
}

// waitOf returns n units, but at most longestWait.
func waitOf(n float64, unit time.Duration) time.Duration {
	return time.Duration(min(n*float64(unit), float64(longestWait)))
}
