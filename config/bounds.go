package config

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"time"
)

// bounds are the minimum and maximum of a value. A field's tag declares them, for validation, the schema and the
// reference: range:"1s..", range:"..77" or range:"0..1", optionally with a reason after a semicolon. On a map, bounds
// and choices apply to each value.
type bounds struct {
	least, most string // as written in a file; empty: none
	reason      string
}

func boundsOf(field reflect.StructField) (b bounds, given bool) {
	text, given := field.Tag.Lookup("range")
	text, b.reason, _ = strings.Cut(text, "; ")
	b.least, b.most, _ = strings.Cut(text, "..")
	return b, given
}

func (b bounds) String() string {
	switch {
	case b.most == "":
		return "at least " + b.least
	case b.least == "":
		return "at most " + b.most
	}
	return b.least + " to " + b.most
}

// want describes a valid value of a type, for the message of a mistake.
func (b bounds) want(of reflect.Type) string {
	noun := "a number"
	switch {
	case of == reflect.TypeFor[time.Duration]():
		noun = "a duration"
	case of == reflect.TypeFor[Bytes]():
		noun = "a size"
	case of.Kind() != reflect.Float64:
		noun = "a whole number"
	}
	want := "want " + noun + ", " + b.String()
	if b.reason != "" {
		want += ": " + b.reason
	}
	return want
}

func (b bounds) holds(value reflect.Value) bool {
	number := numberOf(value)
	if math.IsNaN(number) || math.IsInf(number, 0) {
		return false
	}
	isTooLittle := b.least != "" && number < b.number(b.least, value.Type())
	return !isTooLittle && !(b.most != "" && number > b.number(b.most, value.Type()))
}

func (bounds) number(text string, of reflect.Type) float64 {
	value := reflect.New(of).Elem()
	if want := setText(value, text); want != "" {
		panic("config: the range of a " + of.String() + " has " + text + ": want " + want)
	}
	return numberOf(value)
}

func numberOf(value reflect.Value) float64 {
	switch {
	case value.CanInt():
		return float64(value.Int())
	case value.CanUint():
		return float64(value.Uint())
	}
	return value.Float()
}

// choicesOf returns the texts that a field's tag permits, as in oneof:"cache pass refuse". Empty means any.
func choicesOf(field reflect.StructField) []string { return strings.Fields(field.Tag.Get("oneof")) }

// checkBounds checks a value and everything in it against the tags of the fields. It skips sections that are absent
// from the file and have no defaults.
func checkBounds(of reflect.Value, at place) {
	if _, isText := texts[of.Type()]; isText {
		return
	}
	switch of.Kind() {
	case reflect.Pointer:
		if !of.IsNil() {
			checkBounds(of.Elem(), at)
		}
	case reflect.Slice:
		for i := range of.Len() {
			checkBounds(of.Index(i), at.item(i))
		}
	case reflect.Struct:
		if _, isGiven := at.in.lines[at.path]; of.IsZero() && !isGiven {
			return
		}
		for field, value := range of.Fields() {
			if key := field.Tag.Get("yaml"); key != "" {
				checkField(field, value, at.key(key))
				checkBounds(value, at.key(key))
			}
		}
	}
}

// checkField checks one value, or each value of a map, against the tags of its field.
func checkField(field reflect.StructField, value reflect.Value, at place) {
	if value.Kind() == reflect.Map {
		for name, each := range value.Seq2() {
			checkField(field, each, at.key(name.String()))
		}
		return
	}
	if choices := choicesOf(field); len(choices) > 0 {
		last := len(choices) - 1
		at.mistakeIf(!slices.Contains(choices, value.String()), "want %s or %s", strings.Join(choices[:last], ", "), choices[last])
	}
	if limits, given := boundsOf(field); given {
		at.mistakeIf(!limits.holds(value), "%s", limits.want(value.Type()))
	}
}
