package config

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"time"
)

// bounds are the least and the most that a value may be. They are in the tag of its field, from where they go into the
// check of a file, the schema and the reference: range:"1s..", range:"..77" or range:"0..1", with a reason after a
// semicolon. Those of a map hold for each of its values, as choices do.
type bounds struct {
	least, most string // as a file has them; empty: none
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

// want is what a value of a type must be, as a mistake says it.
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

// number reads a bound of values of a type.
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

// choicesOf returns the texts that a field may hold, as its tag lists them: oneof:"cache pass refuse". None: any.
func choicesOf(field reflect.StructField) []string { return strings.Fields(field.Tag.Get("oneof")) }

// checkBounds holds every value within a value against the tags of its field. A section that is not in the file and has
// no defaults is none.
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

// checkField holds one value, or those of a map, against the tags of its field.
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
