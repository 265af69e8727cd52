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

// longestShort is up to how long a wait is one for a rate, not for a plan's day or month.
const longestShort = 2 * time.Minute

// hints are what the data of an error object holds: texts, and numbers by their names.
type hints struct {
	texts   []string
	numbers map[string]float64
	named   map[string]string
}

// hints reads the data. Servers put a text there, or an object that may hold others.
func (e *Error) hints() hints {
	found := hints{numbers: make(map[string]float64), named: make(map[string]string)}
	var data any
	if len(e.Data) == 0 || json.Unmarshal(e.Data, &data) != nil {
		return found
	}
	found.add("", data, 0)
	return found
}

const deepestHint = 4

// saying are names of members that hold what a server has to say, wherever it says so.
var saying = regexp.MustCompile(`message|msg|error|detail|reason|title|descri|cause`)

// textsIn returns what the members of an object say, in whatever form a server puts it.
func textsIn(body []byte) (texts []string) {
	var object map[string]any
	if json.Unmarshal(body, &object) != nil {
		return nil
	}
	return appendTexts(nil, object, 0)
}

func appendTexts(texts []string, value any, depth int) []string {
	switch value := value.(type) {
	case string:
		return append(texts, value)
	case []any:
		for _, each := range value {
			texts = appendTexts(texts, each, depth)
		}
	case map[string]any:
		if depth == deepestHint {
			return texts
		}
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if saying.MatchString(strings.ToLower(name)) {
				texts = appendTexts(texts, value[name], depth+1)
			}
		}
	}
	return texts
}

func (h *hints) add(name string, value any, depth int) {
	switch value := value.(type) {
	case string:
		h.named[name] = value
		if !hexText.MatchString(strings.ToLower(value)) {
			h.texts = append(h.texts, value)
		}
	case float64:
		h.numbers[name] = value
	case map[string]any:
		if depth == deepestHint {
			return
		}
		for _, key := range slices.Sorted(maps.Keys(value)) {
			h.add(strings.ToLower(key), value[key], depth+1)
		}
	}
}

// count returns the number whose name holds all of these words.
func (h *hints) count(words ...string) (uint64, bool) {
	_, n, told := h.counted(words...)
	return n, told
}

// counted is count with the whole name.
func (h *hints) counted(words ...string) (name string, n uint64, told bool) {
	for _, name := range slices.Sorted(maps.Keys(h.numbers)) {
		holds := !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(name, word) })
		if n := h.numbers[name]; holds && n >= 1 && n < 1<<53 {
			return name, uint64(n), true
		}
	}
	return "", 0, false
}

var waits = []*regexp.Regexp{
	regexp.MustCompile(`(?:suspended for|(?:try|retry|retrying|wait|again|backoff|reset)[a-z ]*(?:in|after|for)?:?) ?(\d+(?:\.\d+)?) ?(ms|milliseconds?|s\b|sec\w*|m\b|min\w*|h\b|hours?)`),
}

var waitUnits = map[string]time.Duration{"ms": time.Millisecond, "mi": time.Minute, "m": time.Minute, "s": time.Second, "se": time.Second, "h": time.Hour, "ho": time.Hour}

// longestWait is the longest wait that is told. Who names more means a date, or nothing.
const longestWait = 366 * 24 * time.Hour

// Wait returns how long the endpoint wants not to be asked, if the error or the response's header tells.
func (e *Error) Wait() (wait time.Duration, told bool) {
	if e.pause > 0 {
		return min(e.pause, longestWait), true
	}
	return e.saidWait()
}

// saidWait is Wait by the error alone.
func (e *Error) saidWait() (time.Duration, bool) {
	h := e.hints()
	for _, word := range []string{"backoff", "retry", "wait"} {
		if name, n, told := h.counted(word); told {
			return waitOf(float64(n), unitIn(name)), true
		}
	}
	for _, form := range waits {
		found := form.FindStringSubmatch(e.text())
		if found == nil {
			continue
		}
		n, err := strconv.ParseFloat(found[1], 64)
		unit := found[2]
		switch {
		case strings.HasPrefix(unit, "milli"):
			unit = "ms"
		case len(unit) > 2:
			unit = unit[:2]
		}
		if wait := waitOf(n, waitUnits[unit]); err == nil && wait > 0 {
			return wait, true
		}
	}
	return 0, false
}

// waitOf is so many units, a year and a day at most.
func waitOf(n float64, unit time.Duration) time.Duration {
	return time.Duration(min(n*float64(unit), float64(longestWait)))
}

// unitIn is the unit of time in a number's name: seconds where that tells none.
func unitIn(name string) time.Duration {
	if strings.HasSuffix(name, "ms") || strings.Contains(name, "milli") {
		return time.Millisecond
	}
	return time.Second
}

var (
	hexNumber = regexp.MustCompile(`0x[0-9a-f]+`)
	// plainNumber is a number as people write it, with what is around it: 10,000, 10.000 or 10k, and what it counts.
	plainNumber = regexp.MustCompile(`(?:^|[^\w.#])(\d[\d,_]*(?:\.\d{3})*)(k?)\b( ?(?:s|sec|seconds?|ms|minutes?|hours?|results?|logs?|events?|topics|addresses|mb|kb|bytes)\b)?`)
	fraction    = regexp.MustCompile(`^\.\d`)
	limitBefore = regexp.MustCompile(`(?:max(?:imum)?|limit(?:ed)?|up to|at most|allowed|than|over|exceeds?|exceed(?:ed|ing)?|restrict\w*|within|size|distance|only|window|<=)[^\d]{0,32}$`)
	askedBefore = regexp.MustCompile(`(?:requested|got|asked|given|received|your range|from|to block|actual|was|is currently)[^\d]{0,12}$`)
)

// SpanLimit returns how many blocks the endpoint searches at once, if the error tells; asked is how many were asked
// for. Numbers of results, as in "returned more than 10000 results", are none of blocks.
func (e *Error) SpanLimit(asked uint64) (blocks uint64, told bool) {
	if e.Meaning() != RangeLimit {
		return 0, false
	}
	h := e.hints()
	for _, names := range [][]string{{"max", "range"}, {"limit", "range"}, {"max", "block"}, {"limit", "block"}} {
		if n, told := h.count(names...); told && n < asked {
			return n, true
		}
	}
	text := e.text()
	if n, told := hexLimit(text); told && n < asked {
		return n, true
	}
	text = hexNumber.ReplaceAllString(text, "")
	var limit uint64
	best := -1
	for _, at := range plainNumber.FindAllStringSubmatchIndex(text, -1) {
		n, isCount := count(text[at[2]:at[3]], text[at[4]:at[5]])
		if !isCount || at[6] >= 0 || n >= asked || strings.HasPrefix(text[at[1]:], " >") || fraction.MatchString(text[at[1]:]) {
			continue
		}
		likely := 1
		if limitBefore.MatchString(text[:at[2]]) {
			likely++
		}
		if askedBefore.MatchString(text[:at[2]]) {
			likely--
		}
		if likely >= max(best, 1) {
			limit, best = n, likely
		}
	}
	return limit, limit > 0
}

// hexLimit returns the number in hexadecimal that a text calls a limit.
func hexLimit(text string) (limit uint64, told bool) {
	if hexRange.MatchString(text) {
		return 0, false // blocks that would fit
	}
	for _, at := range hexNumber.FindAllStringIndex(text, -1) {
		n, err := strconv.ParseUint(text[at[0]+2:at[1]], 16, 32)
		if err == nil && n > 0 && limitBefore.MatchString(text[:at[0]]) && !askedBefore.MatchString(text[:at[0]]) {
			return n, true
		}
	}
	return 0, false
}

// What would fit this time, which another part of the chain may not.
var (
	hexRange     = regexp.MustCompile(`\[0x([0-9a-f]+), ?0x([0-9a-f]+)\]`)
	decimalRange = regexp.MustCompile(`retry with the range (\d+)-(\d+)`)
)

// FittingSpan returns how many blocks of those that were asked for would have been few enough, if the error
// tells.
func (e *Error) FittingSpan() (blocks uint64, told bool) {
	h := e.hints()
	if from, to := h.named["from"], h.named["to"]; from != "" && to != "" {
		return between(strings.TrimPrefix(strings.ToLower(from), "0x"), strings.TrimPrefix(strings.ToLower(to), "0x"), 16)
	}
	text := e.text()
	if found := hexRange.FindStringSubmatch(text); found != nil {
		return between(found[1], found[2], 16)
	}
	if found := decimalRange.FindStringSubmatch(text); found != nil {
		return between(found[1], found[2], 10)
	}
	return 0, false
}

// between counts the blocks of a range.
func between(first, last string, base int) (blocks uint64, is bool) {
	from, fromErr := strconv.ParseUint(first, base, 63)
	to, toErr := strconv.ParseUint(last, base, 63)
	if fromErr != nil || toErr != nil || to < from {
		return 0, false
	}
	return to - from + 1, true
}

// resultNumbers are limits of results, with what is counted after the number or before it.
var resultNumbers = []*regexp.Regexp{
	regexp.MustCompile(`(?:than|exceed\w*|over|above|max(?:imum)?|limit(?:ed)?|up to|at most|cap)(?: (?:of|to|is))? ([\d,]+)(k?) ?` + counted),
	regexp.MustCompile(`([\d,]+)(k?) ` + counted + ` (?:limit|max)`),
	regexp.MustCompile(`max(?:imum)? (?:logs|results|events)(?: of| is|:)? ([\d,]+)(k?)\b`),
	regexp.MustCompile(`(?:log|result|event)s?\b[^.\d]*(?:max(?:imum)?|limit|count|results|than)(?: of| is|:)? ([\d,]+)(k?)\b`),
}

// Results returns how many results the endpoint gives at once, if the error tells.
func (e *Error) Results() (results uint64, told bool) {
	if e.Meaning() != ResultLimit {
		return 0, false
	}
	for _, form := range resultNumbers {
		if found := form.FindStringSubmatch(e.text()); found != nil {
			return count(found[1], found[2])
		}
	}
	return 0, false
}

var (
	batchNumber = regexp.MustCompile(`(?:max(?:imum)?|limit(?:ed)?|up to|at most|allowed|than|over|exceeds?|size)[^\d]{0,32}(\d+)( ?(?:[kmg]i?b|bytes|million|ms|s|sec\w*|min\w*)\b)?`)
	noBatches   = regexp.MustCompile(`batch\w*( \w+)? (is |are )?(not |un|dis|only )|(no|disallow\w*|forbidden) batch`)
)

// BatchLimit returns how many calls the endpoint takes at once, if the error tells; asked is how many it refused.
func (e *Error) BatchLimit(asked int) (calls int, told bool) {
	if e.Meaning() != BatchLimit {
		return 0, false
	}
	for _, found := range batchNumber.FindAllStringSubmatch(e.text(), -1) {
		if n, err := strconv.Atoi(found[1]); err == nil && n > 0 && n < asked && found[2] == "" {
			return n, true
		}
	}
	return 1, noBatches.MatchString(e.text())
}

var floorNumber = regexp.MustCompile(`(?:lowest height is|base height:?|first (?:retained|available) (?:block|state)(?: is|:)?|(?:oldest|earliest)(?: available)? (?:block|slot)(?: is|:)?|earliest available(?: is|:)?) ?#?(\d+)`)

// Floor returns the oldest block that the endpoint keeps, if the error tells.
func (e *Error) Floor() (block uint64, told bool) {
	found := floorNumber.FindStringSubmatch(e.text())
	if found == nil || e.Meaning() != Pruned {
		return 0, false
	}
	block, err := strconv.ParseUint(found[1], 10, 63)
	return block, err == nil && block > 1 // the first block of a chain is no floor
}

var keptNumber = regexp.MustCompile(recentBlocks)

// Depth returns how many of the newest blocks the endpoint keeps, if the error tells.
func (e *Error) Depth() (blocks uint64, told bool) {
	found := keptNumber.FindStringSubmatch(e.text())
	if found == nil || e.Meaning() != Pruned {
		return 0, false
	}
	return count(found[1], found[2])
}

// count reads a number as people write it: 10,000, 10.000 or 10k.
func count(digits, thousands string) (uint64, bool) {
	n, err := strconv.ParseUint(strings.NewReplacer(",", "", "_", "", ".", "").Replace(digits), 10, 40)
	if thousands != "" {
		n *= 1000
	}
	return n, err == nil && n > 0
}
