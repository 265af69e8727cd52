package shadow

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
)

// steps are how far an order is on the way to its taker, and on that back to its maker (openapi.yaml, OrderState), and
// on the second way also how far the call is that a fulfilled order makes (ExternalCallState).
var steps = map[string][2]int{
	"None": {0, 0}, "Created": {1, 1}, "Fulfilled": {2, -1}, "SentUnlock": {3, -1}, "ClaimedUnlock": {4, -1},
	"OrderCancelled": {-1, 3}, "SentOrderCancel": {-1, 4}, "ClaimedOrderCancel": {-1, 5},
	"NoExtCall": {0, -1}, "AwaitingOrderFulfillment": {-1, 0}, "AwaitingExecution": {-1, 1}, "Executing": {-1, 2},
	"Completed": {-1, 3}, "Failed": {-1, 3}, "Cancelled": {-1, 3},
}

// isOnTheWay reports whether one of two states follows the other. Unknown words, and the ends of different ways, do
// not.
func isOnTheWay(our, their any) bool {
	a, isOur := steps[textOf(our)]
	b, isTheir := steps[textOf(their)]
	for way := range a {
		if isOur && isTheir && a[way] >= 0 && b[way] >= 0 && a[way] != b[way] {
			return true
		}
	}
	return false
}

// isBlank reports whether a value says nothing: null, an empty text or list, or an object of such.
func isBlank(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case string:
		return value == ""
	case []any:
		return len(value) == 0
	case map[string]any:
		for _, member := range value {
			if !isBlank(member) {
				return false
			}
		}
		return true
	}
	return false
}

// says reports whether a value says something in members that another has as well. A member that only one has is a
// difference of its own.
func says(value, other any) bool {
	object, isObject := value.(map[string]any)
	others, areObjects := other.(map[string]any)
	if !isObject || !areObjects {
		return !isBlank(value)
	}
	for name, member := range object {
		if beside, isBoth := others[name]; isBoth && says(member, beside) {
			return true
		}
	}
	return false
}

// longestNumber is the length of a number that is read as it is, digits. A number of 256 bits has 78.
const longestNumber = 100

// numberOf reads a number, a text of digits, or an object that has the text of a number (BigNumber of openapi.yaml).
func numberOf(value any) (*big.Rat, bool) {
	var text string
	switch value := value.(type) {
	case json.Number:
		text = value.String()
	case string:
		text = value
	case map[string]any:
		text, _ = value["stringValue"].(string)
	}
	if text == "" || len(text) > longestNumber || strings.ContainsAny(text, "/_xXpP") {
		return nil, false
	}
	if strings.ContainsAny(text, "eE") { // an exponent may be of any size
		float, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, false
		}
		return new(big.Rat).SetFloat64(float), true
	}
	return new(big.Rat).SetString(text)
}

// tolerance is by which share of the larger one two amounts may differ that depend on prices.
var tolerance = big.NewRat(1, 100)

// isNear reports whether two numbers are equal within the tolerance.
func isNear(a, b *big.Rat) bool {
	distance := new(big.Rat).Sub(a, b)
	larger := new(big.Rat).Abs(a)
	if other := new(big.Rat).Abs(b); other.Cmp(larger) > 0 {
		larger = other
	}
	return distance.Abs(distance).Cmp(larger.Mul(larger, tolerance)) <= 0
}

// memberAt returns what stands in a value below a path; nil: nothing.
func memberAt(value any, path string) any {
	for name := range strings.SplitSeq(path, "/") {
		if name == "" {
			continue
		}
		object, isObject := value.(map[string]any)
		if !isObject {
			return nil
		}
		value = object[name]
	}
	return value
}

// textOf is a text or number as it is written, empty for anything else.
func textOf(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case json.Number:
		return value.String()
	}
	return ""
}
