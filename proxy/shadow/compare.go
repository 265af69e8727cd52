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
	Member string // path of its name, with * for rows; empty for the whole answer
	Class  Class
	Ours   string // JSON, shortened; empty if absent
	Theirs string
}

// mostDifferences limits the differences returned per answer, the gravest of mostNoted.
const (
	mostDifferences = 100
	mostNoted       = 10_000
)

var errUnreadable = errors.New("answer is not JSON")

// answering are the statuses with which the hosted service answers a question; any other means that it did not.
var answering = []int{http.StatusOK, http.StatusBadRequest, http.StatusNotFound, http.StatusUnprocessableEntity}

// Compare compares an answer of a route with the origin's.
func Compare(route string, our, their Response) ([]Difference, error) {
	if !slices.Contains(answering, their.Status) {
		return nil, fmt.Errorf("origin did not answer the question: status %d", their.Status)
	}
	c := comparison{rules: compared[route]}
	isOurs, isTheirs := our.Status == http.StatusOK, their.Status == http.StatusOK
	switch {
	case our.Status != their.Status:
		class := Different
		if isOurs && their.Status == http.StatusNotFound {
			class = Expected
		}
		return []Difference{{Member: "status", Class: class, Ours: fmt.Sprint(our.Status), Theirs: fmt.Sprint(their.Status)}}, nil
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
	c.walk("", false, ourValue, theirValue)
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
		return nil, errUnreadable
	}
	if _, err = decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errUnreadable
	}
	return value, nil
}

type comparison struct {
	rules rules
	found []Difference
}

func below(at, name string) string { return strings.TrimPrefix(at+"/"+name, "/") }

// absent stands for a value that an answer has not.
type absent struct{}

func memberOf(object map[string]any, name string) any {
	if value, is := object[name]; is {
		return value
	}
	return absent{}
}

func (c *comparison) note(at string, class Class, our, their any) {
	if len(c.found) < mostNoted {
		c.found = append(c.found, Difference{cutText(at, longestValue), class, shortened(our), shortened(their)})
	}
}

// longestValue is how much of a value, or of a member's path, is kept, in bytes.
const longestValue = 200

func shortened(value any) string {
	text, err := json.Marshal(value)
	if err != nil || value == (absent{}) {
		return ""
	}
	return cutText(string(text), longestValue)
}

func cutText(text string, longest int) string {
	if len(text) > longest {
		return strings.ToValidUTF8(text[:longest], "") + "…"
	}
	return text
}

// walk compares two values at a place that both answers have. isBehind means that one answer is behind with the order.
func (c *comparison) walk(at string, isBehind bool, our, their any) {
	switch r := c.rules[at]; r.kind {
	case free:
		return
	case step:
		if isOnTheWay(our, their) {
			c.note(at, Expected, our, their)
			return
		}
	case quantity, drifting:
		c.numbers(at, isBehind, r.kind, our, their)
		return
	case moving:
		if _, isNumber := our.(json.Number); isNumber {
			c.numbers(at, isBehind, drifting, our, their)
			return
		}
	case progress:
		if says(our, their) != says(their, our) {
			c.note(at, lateness(isBehind), our, their)
			return
		}
	case ownMember:
		if isBlank(their) {
			return
		}
	case exact, rows, newest, selection:
	}
	c.inside(at, isBehind, our, their)
}

func lateness(isBehind bool) Class {
	if isBehind {
		return Expected
	}
	return Different
}

// numbers compares numbers that vary between answers.
func (c *comparison) numbers(at string, isBehind bool, k kind, our, their any) {
	a, isOur := numberOf(our)
	b, isTheir := numberOf(their)
	_, isOurText := our.(string)
	_, isTheirText := their.(string)
	switch {
	case k == drifting && isBlank(our) != isBlank(their):
		c.note(at, lateness(isBehind), our, their)
	case !isOur || !isTheir:
		c.inside(at, isBehind, our, their)
	case isOurText != isTheirText, k == quantity && !isNear(a, b):
		c.note(at, Different, our, their)
	case k == drifting && a.Cmp(b) != 0:
		c.note(at, Expected, our, their)
	}
}

// inside compares values exactly: objects by their members, lists by their rows.
func (c *comparison) inside(at string, isBehind bool, our, their any) {
	switch our := our.(type) {
	case map[string]any:
		if their, isSame := their.(map[string]any); isSame {
			c.objects(at, isBehind || c.isOneBehind(at, our, their), our, their)
			return
		}
	case []any:
		if their, isSame := their.([]any); isSame {
			c.lists(at, isBehind, c.rules[at], our, their)
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
	c.note(at, Different, our, their)
}

// isOneBehind reports whether the values are of an order that one side is behind with or lacks the creation of.
func (c *comparison) isOneBehind(at string, our, their map[string]any) bool {
	for _, name := range []string{"state", "status"} {
		if c.rules[below(at, name)].kind == step {
			return isOnTheWay(our[name], their[name]) || isBlank(our[creation]) != isBlank(their[creation])
		}
	}
	return false
}

// objects compares the members of two objects, of a selection only those that both have.
func (c *comparison) objects(at string, isBehind bool, our, their map[string]any) {
	isSelection := c.rules[at].kind == selection
	names := slices.AppendSeq(slices.Collect(maps.Keys(our)), maps.Keys(their))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		here := below(at, name)
		if isSelection {
			here = below(at, "*")
		}
		a, b := memberOf(our, name), memberOf(their, name)
		isOurs, isTheirs := a != (absent{}), b != (absent{})
		r, isRuled := c.rules[here]
		class := Different
		if r.kind == progress {
			class = lateness(isBehind)
		} else if !isRuled && !isOurs { // not in openapi.yaml
			class = Expected
		}
		switch {
		case isOurs && isTheirs:
			c.walk(here, isBehind, a, b)
		case isSelection, r.kind == free, isOurs && r.kind == ownMember, r.kind == progress && isBlank(a) && isBlank(b):
		default:
			c.note(here, class, a, b)
		}
	}
}
