package shadow

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
)

// steps are how far a state is on the way to the order's taker, and on the way back to its maker (openapi.yaml,
// OrderState); the second number also orders the states of a fulfilled order's call (ExternalCallState).
var steps = map[string][2]int{
	"None": {0, 0}, "Created": {1, 1}, "Fulfilled": {2, -1}, "SentUnlock": {3, -1}, "ClaimedUnlock": {4, -1},
	"OrderCancelled": {-1, 3}, "SentOrderCancel": {-1, 4}, "ClaimedOrderCancel": {-1, 5},
	"NoExtCall": {0, -1}, "AwaitingOrderFulfillment": {-1, 0}, "AwaitingExecution": {-1, 1}, "Executing": {-1, 2},
	"Completed": {-1, 3}, "Failed": {-1, 3}, "Cancelled": {-1, 3},
}

// isOnTheWay reports whether one of two states follows the other, which unknown states and those on different ways do
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

// isBlank reports whether a value contains nothing: it is absent, null, an empty string or list, or an object of blank
// values.
func isBlank(value any) bool {
	switch value := value.(type) {
	case nil, absent:
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

// says reports whether a value is not blank in members that another value also has. A member that only one of them has
// is a difference of its own.
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

// longestNumber is the longest number parsed, in digits. One of 256 bits has 78.
const longestNumber = 100

// numberOf parses a number, a string of digits, or an object with the string of a number (BigNumber of openapi.yaml).
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
	if strings.ContainsAny(text, "eE") { // the exponent may be huge
		float, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, false
		}
		return new(big.Rat).SetFloat64(float), true
	}
	return new(big.Rat).SetString(text)
}

// tolerance is the share of the larger by which two amounts that depend on prices may differ.
var tolerance = big.NewRat(1, 100)

func isNear(a, b *big.Rat) bool {
	distance := new(big.Rat).Sub(a, b)
	larger := new(big.Rat).Abs(a)
	if other := new(big.Rat).Abs(b); other.Cmp(larger) > 0 {
		larger = other
	}
	return distance.Abs(distance).Cmp(larger.Mul(larger, tolerance)) <= 0
}

// memberAt returns the value at a path below another value, nil if there is none.
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

// textOf returns a string or number as written, empty for anything else.
func textOf(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case json.Number:
		return value.String()
	}
	return ""
}
