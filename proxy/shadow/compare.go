package shadow

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Class is the meaning of a difference.
type Class uint8

// The classes, in ascending gravity.
const (
	Same      Class = iota
	Expected        // one server lags behind the other, or the origin has rows or members that this gateway does not offer
	Different       // the answers contradict each other
)

// String returns the class's name, which is published as a metric label and on the operators' page.
func (c Class) String() string { return [...]string{"same", "expected", "different"}[c] }

// Response is one of the two responses to compare.
type Response struct {
	Status int
	Body   string
}

// Difference is a member in which two answers differ.
type Difference struct {
	Member  string // path of its name, with row numbers; empty for the whole answer
	Class   Class
	Ours    string // JSON, shortened; empty if absent
	Theirs  string
	pattern string // Member with * for row numbers
}

// mostDifferences limits the differences returned per answer, the gravest of mostNoted.
const (
	mostDifferences = 100
	mostNoted       = 10_000
)

// Errors of answers that cannot be compared.
var (
	ErrUnreadable = errors.New("answer is not JSON")
	ErrFailing    = errors.New("origin did not answer the question")
)

// answering are the statuses with which the hosted service answers a question; any other means that it did not.
var answering = []int{http.StatusOK, http.StatusBadRequest, http.StatusNotFound, http.StatusUnprocessableEntity}

// Compare compares an answer of a route with the origin's.
func Compare(route string, our, their Response) ([]Difference, error) {
	if !slices.Contains(answering, their.Status) {
		return nil, fmt.Errorf("%w: status %d", ErrFailing, their.Status)
	}
	c := comparison{rules: compared[route]}
	isOurs, isTheirs := our.Status == http.StatusOK, their.Status == http.StatusOK
	switch {
	case isOurs != isTheirs, our.Status != their.Status:
		class := Different
		if isOurs && their.Status == http.StatusNotFound {
			class = Expected
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
		return nil, nil // an error in another format: only its status counts
	}
	if err != nil {
		return nil, fmt.Errorf("theirs: %w", err)
	}
	if _, isObject := theirValue.(map[string]any); !isTheirs && (!isObject || memberAt(theirValue, "errorId") == nil) {
		return nil, nil
	}
	c.walk(place{}, false, ourValue, theirValue)
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

type comparison struct {
	rules rules
	found []Difference
}

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

func (c *comparison) differ(at place, class Class, our, their any) {
	c.note(at, class, shortened(our), shortened(their))
}

func (c *comparison) note(at place, class Class, our, their string) {
	if len(c.found) < mostNoted {
		c.found = append(c.found, Difference{cutText(at.member), class, our, their, cutText(at.pattern)})
	}
}

// longestValue is how much of a value, or of a member's path, is kept, in bytes.
const longestValue = 200

func shortened(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return cutText(string(text))
}

func cutText(text string) string {
	if len(text) > longestValue {
		return strings.ToValidUTF8(text[:longestValue], "") + "…"
	}
	return text
}

// walk compares two values at a place that both answers have. isBehind means that one answer is behind with the order.
func (c *comparison) walk(at place, isBehind bool, our, their any) {
	r := c.rules[at.pattern]
	switch r.kind {
	case free:
	case step:
		if isOnTheWay(our, their) {
			c.differ(at, Expected, our, their)
			return
		}
		c.inside(at, false, our, their)
	case quantity, drifting:
		c.numbers(at, isBehind, r.kind, our, their)
	case rows, newest, moving:
		if _, isNumber := our.(json.Number); isNumber && r.kind == moving {
			c.numbers(at, isBehind, drifting, our, their)
			return
		}
		c.lists(at, isBehind, r, our, their)
	case progress:
		if says(our, their) != says(their, our) {
			c.differ(at, lateness(isBehind), our, their)
			return
		}
		c.inside(at, isBehind, our, their)
	case selection:
		c.selections(at, our, their)
	case ownMember:
		if !isBlank(their) {
			c.inside(at, isBehind, our, their)
		}
	case exact:
		c.inside(at, isBehind, our, their)
	}
}

func lateness(isBehind bool) Class {
	if isBehind {
		return Expected
	}
	return Different
}

// numbers compares numbers that vary between answers.
func (c *comparison) numbers(at place, isBehind bool, k kind, our, their any) {
	a, isOur := numberOf(our)
	b, isTheir := numberOf(their)
	_, isOurText := our.(string)
	_, isTheirText := their.(string)
	switch {
	case k == drifting && isBlank(our) != isBlank(their):
		c.differ(at, lateness(isBehind), our, their)
	case !isOur || !isTheir:
		c.inside(at, isBehind, our, their)
	case isOurText != isTheirText, k == quantity && !isNear(a, b):
		c.differ(at, Different, our, their)
	case k == drifting && a.Cmp(b) != 0:
		c.differ(at, Expected, our, their)
	}
}

// inside compares values exactly: objects by their members, lists by their rows in sequence.
func (c *comparison) inside(at place, isBehind bool, our, their any) {
	switch our := our.(type) {
	case map[string]any:
		if their, isSame := their.(map[string]any); isSame {
			c.objects(at, isBehind || c.isOneBehind(at, our, their), our, their)
			return
		}
	case []any:
		if their, isSame := their.([]any); isSame {
			c.lists(at, isBehind, rule{}, our, their)
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
	c.differ(at, Different, our, their)
}

// isOneBehind reports whether the values are of an order that one side is behind with or lacks the creation of.
func (c *comparison) isOneBehind(at place, our, their map[string]any) bool {
	for _, name := range []string{"state", "status"} {
		if c.rules[at.name(name).pattern].kind == step {
			return isOnTheWay(our[name], their[name]) || isBlank(our[creation]) != isBlank(their[creation])
		}
	}
	return false
}

func (c *comparison) objects(at place, isBehind bool, our, their map[string]any) {
	names := slices.AppendSeq(slices.Collect(maps.Keys(our)), maps.Keys(their))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		here := at.name(name)
		a, isOurs := our[name]
		b, isTheirs := their[name]
		r, isRuled := c.rules[here.pattern]
		k, class := r.kind, Different
		if k == progress {
			class = lateness(isBehind)
		} else if !isRuled && !isOurs { // not in openapi.yaml
			class = Expected
		}
		switch {
		case isOurs && isTheirs:
			c.walk(here, isBehind, a, b)
		case k == free, isOurs && k == ownMember, k == progress && isBlank(a) && isBlank(b):
		case isOurs:
			c.note(here, class, shortened(a), "")
		default:
			c.note(here, class, "", shortened(b))
		}
	}
}
