package shadow

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode"
)

// Class is what a difference means.
type Class uint8

// The classes, the graver the greater.
const (
	Equal        Class = iota
	TheirsLate         // the origin does not know yet what this gateway does
	OursLate           // the other way round
	Unsettled          // one of the two is late, and the answers do not tell which
	Undocumented       // the origin has a member that openapi.yaml does not
	OursWrong          // the answers contradict each other: taken for a fault of this gateway until somebody has looked
	classes
)

// classNames are published: labels of measurements, and the operators' page has them.
var classNames = [classes]string{"equal", "theirs-late", "ours-late", "unsettled", "undocumented", "ours-wrong"}

func (c Class) String() string { return classNames[c] }

// Response is one of two that are compared.
type Response struct {
	Status int
	Body   string
}

// Difference is a member in which two answers differ.
type Difference struct {
	Member  string // path of its name, with the number of each row; empty: all of the answer
	Class   Class
	Ours    string // JSON, shortened; empty: absent
	Theirs  string
	pattern string // Member with * for rows
}

// mostDifferences bounds what is told of one answer, the gravest, and mostNoted what they are chosen from.
const (
	mostDifferences = 100
	mostNoted       = 10_000
)

// Errors of answers that cannot be compared.
var (
	ErrUnreadable = errors.New("answer is not JSON")
	ErrFailing    = errors.New("origin did not answer the question")
)

// answering are the statuses by which the hosted service answers a question; any other says that it did not take it.
var answering = []int{http.StatusOK, http.StatusBadRequest, http.StatusNotFound, http.StatusUnprocessableEntity}

// Compare compares an answer of a route with that of the origin. Quantities are equal within a tolerance, a share.
func Compare(route string, our, their Response, tolerance float64) ([]Difference, error) {
	if !slices.Contains(answering, their.Status) {
		return nil, fmt.Errorf("%w: status %d", ErrFailing, their.Status)
	}
	c := comparison{rules: compared[route], tolerance: tolerance}
	isOurs, isTheirs := our.Status == http.StatusOK, their.Status == http.StatusOK
	switch {
	case isOurs != isTheirs, our.Status != their.Status:
		class := OursWrong
		if isOurs && their.Status == http.StatusNotFound {
			class = TheirsLate
		}
		return []Difference{{
			Member: "status", Class: class, Ours: fmt.Sprint(our.Status), Theirs: fmt.Sprint(their.Status), pattern: "status",
		}}, nil
	case !isOurs:
		c.rules = problemRules
	}
	ourValue, err := decode(our.Body)
	if err != nil {
		return nil, fmt.Errorf("ours: %w", err)
	}
	theirValue, err := decode(their.Body)
	if err != nil && !isTheirs {
		return nil, nil // an error in another form: its status has said it
	}
	if err != nil {
		return nil, fmt.Errorf("theirs: %w", err)
	}
	if _, isObject := theirValue.(map[string]any); !isTheirs && (!isObject || memberAt(theirValue, "errorId") == nil) {
		return nil, nil
	}
	c.walk(place{}, neither, ourValue, theirValue)
	if len(c.found) > mostDifferences {
		slices.SortStableFunc(c.found, func(a, b Difference) int { return cmp.Compare(b.Class, a.Class) })
		c.found = slices.Clone(c.found[:mostDifferences])
	}
	return c.found, nil
}

func decode(text string) (value any, err error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err = decoder.Decode(&value); err != nil {
		return nil, ErrUnreadable
	}
	if _, err = decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, ErrUnreadable
	}
	return value, nil
}

// gravest is the class of an answer by those of its members.
func gravest(all []Difference) Class {
	most := Equal
	for _, d := range all {
		most = max(most, d.Class)
	}
	return most
}

// comparison collects in what two answers differ.
type comparison struct {
	rules     rules
	tolerance float64
	found     []Difference
}

// place is where a member stands.
type place struct {
	member  string
	pattern string
}

func (p place) below(name, pattern string) place {
	if p.member == "" {
		return place{name, pattern}
	}
	return place{p.member + "/" + name, p.pattern + "/" + pattern}
}

func (p place) name(name string) place { return p.below(name, name) }

// differ notes a difference.
func (c *comparison) differ(at place, class Class, our, their any) {
	c.note(at, class, shortened(our), shortened(their))
}

func (c *comparison) note(at place, class Class, our, their string) {
	if len(c.found) < mostNoted {
		c.found = append(c.found, Difference{printable(at.member), class, our, their, printable(at.pattern)})
	}
}

// printable is a path whose names somebody else has chosen, shortened.
func printable(path string) string {
	path = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, path)
	if len(path) > longestValue {
		return strings.ToValidUTF8(path[:longestValue], "") + "…"
	}
	return path
}

// longestValue is how much of a value is told, bytes.
const longestValue = 200

func shortened(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	if len(text) > longestValue {
		return string(bytes.ToValidUTF8(text[:longestValue], nil)) + "…"
	}
	return string(text)
}

// walk compares two values that both answers have at a place, within an order of which a side has come further.
func (c *comparison) walk(at place, lead side, our, their any) {
	r := c.rules[at.pattern]
	switch r.kind {
	case free:
	case orderStep:
		c.step(at, steps, our, their)
	case callStep:
		c.step(at, callSteps, our, their)
	case growing, shrinking:
		c.monotone(at, lead, r.kind, our, their)
	case quantity, clock:
		c.near(at, r.kind, our, their)
	case rows, newest, appended, moving:
		if _, isNumber := our.(json.Number); isNumber && r.kind == moving {
			c.near(at, r.kind, our, their)
			return
		}
		c.lists(at, lead, r, our, their)
	case progress:
		if isOurs, isTheirs := says(our, their), says(their, our); isOurs != isTheirs {
			c.differ(at, lateness(lead, isOurs), our, their)
			return
		}
		c.inside(at, lead, our, their)
	case selection:
		c.selections(at, our, their)
	case exact, ownMember:
		c.inside(at, lead, our, their)
	}
}

// lateness is the class of what one side has and the other does not, by who has come further.
func lateness(lead side, isTheirsBlank bool) Class {
	switch {
	case lead == ours && isTheirsBlank:
		return TheirsLate
	case lead == theirs && !isTheirsBlank:
		return OursLate
	}
	return OursWrong
}

func (c *comparison) step(at place, known map[string][2]int, our, their any) {
	_, isOurs := our.(string)
	_, isTheirs := their.(string)
	if !isOurs || !isTheirs {
		c.inside(at, neither, our, their)
		return
	}
	switch further(known, textOf(our), textOf(their)) {
	case neither:
	case ours:
		c.differ(at, TheirsLate, our, their)
	case theirs:
		c.differ(at, OursLate, our, their)
	case apart:
		c.differ(at, OursWrong, our, their)
	}
}

// monotone compares numbers that change in one direction only.
func (c *comparison) monotone(at place, lead side, k kind, our, their any) {
	a, isOur := numberOf(our)
	b, isTheir := numberOf(their)
	if !isOur || !isTheir {
		if isBlank(our) != isBlank(their) {
			c.differ(at, lateness(lead, isBlank(their)), our, their)
			return
		}
		c.inside(at, lead, our, their)
		return
	}
	order := a.Cmp(b)
	if k == shrinking {
		order = -order
	}
	switch {
	case order == 0:
		c.inside(at, lead, our, their)
	case order > 0:
		c.differ(at, TheirsLate, our, their)
	default:
		c.differ(at, OursLate, our, their)
	}
}

// clockTolerance is how far the times of two answers may be from each other, seconds.
const clockTolerance = 600

// near compares numbers that are not the same twice.
func (c *comparison) near(at place, k kind, our, their any) {
	a, isOur := numberOf(our)
	b, isTheir := numberOf(their)
	if !isOur || !isTheir {
		c.inside(at, neither, our, their)
		return
	}
	_, isOurText := our.(string)
	_, isTheirText := their.(string)
	isSame := isNear(a, b, c.tolerance)
	if k == clock {
		distance, _ := a.Sub(a, b).Float64()
		isSame = distance <= clockTolerance && distance >= -clockTolerance
	}
	switch {
	case isOurText != isTheirText:
		c.differ(at, OursWrong, our, their)
	case !isSame && k == moving:
		c.differ(at, Unsettled, our, their)
	case !isSame:
		c.differ(at, OursWrong, our, their)
	}
}

// inside compares values as they are: objects by their members, lists by their rows in sequence.
func (c *comparison) inside(at place, lead side, our, their any) {
	switch our := our.(type) {
	case map[string]any:
		if their, isSame := their.(map[string]any); isSame {
			c.objects(at, c.leadOf(at, lead, our, their), our, their)
			return
		}
	case []any:
		if their, isSame := their.([]any); isSame {
			c.lists(at, lead, rule{kind: exact}, our, their)
			return
		}
	case json.Number:
		if their, isSame := their.(json.Number); isSame {
			a, isOur := numberOf(our)
			b, isTheir := numberOf(their)
			if our == their || isOur && isTheir && a.Cmp(b) == 0 {
				return
			}
		}
	default:
		switch their.(type) {
		case map[string]any, []any, json.Number:
		default:
			if our == their {
				return
			}
		}
	}
	c.differ(at, OursWrong, our, their)
}

// leadOf is who has come further by an order's own members, where it is one.
func (c *comparison) leadOf(at place, lead side, our, their map[string]any) side {
	for _, name := range []string{"state", "status"} {
		if c.rules[at.name(name).pattern].kind != orderStep {
			continue
		}
		if lead = further(steps, textOf(our[name]), textOf(their[name])); lead != neither {
			return lead
		}
		if isOurs, isTheirs := isBlank(our[creation]), isBlank(their[creation]); isOurs != isTheirs {
			if isTheirs {
				return ours
			}
			return theirs
		}
	}
	return lead
}

// objects compares members.
func (c *comparison) objects(at place, lead side, our, their map[string]any) {
	names := slices.AppendSeq(slices.Collect(maps.Keys(our)), maps.Keys(their))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		here := at.name(name)
		a, isOurs := our[name]
		b, isTheirs := their[name]
		r, isRuled := c.rules[here.pattern]
		switch {
		case isOurs && isTheirs:
			c.walk(here, lead, a, b)
		case r.kind == free, isOurs && r.kind == ownMember:
		case isOurs && r.kind == progress && isBlank(a), isTheirs && r.kind == progress && isBlank(b):
		case isOurs && r.kind == progress:
			c.note(here, lateness(lead, true), shortened(a), "")
		case isOurs:
			c.note(here, OursWrong, shortened(a), "")
		case r.kind == progress:
			c.note(here, lateness(lead, false), "", shortened(b))
		case isRuled:
			c.note(here, OursWrong, "", shortened(b))
		default:
			c.note(here, Undocumented, "", shortened(b))
		}
	}
}
