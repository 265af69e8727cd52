package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/internal/golden"
	"crossgate/internal/must"
)

type object = map[string]any

// forms are the schemas of values that are written as text. Any value may be replaced by a variable.
var forms = map[reflect.Type]object{
	reflect.TypeFor[time.Duration](): {"type": "string", "pattern": `^([0-9.]+(ns|us|µs|ms|s|m|h))+$|^0$|\$\{`},
	reflect.TypeFor[Bytes]():         {"type": []string{"integer", "string"}, "pattern": `^[0-9]+ ?([kMG]?B|[KMG]iB)?$|\$\{`},
	reflect.TypeFor[slog.Level]():    {"enum": []string{"debug", "info", "warn", "error"}},
	reflect.TypeFor[chain.Family]():  {"enum": []string{"evm", "solana", "tron"}},
	reflect.TypeFor[chain.ID]():      {"type": []string{"integer", "string"}, "pattern": `^[0-9]+$|\$\{`, "minimum": 1},
}

// required holds the required keys by type; TestRequiredKeysAreMissed proves each.
var required = map[string][]string{
	"Config": {"chains"}, "Chain": {"endpoints", "id"}, "Endpoint": {"url"}, "Venue": {"name"}, "Token": {"chain", "symbol"},
	"TokenList": {"endpoints", "name"}, "Key": {"key", "name", "quota"}, "Quota": {"units", "window"},
	"Host": {"endpoints", "name"},
}

// drawer builds a schema from types.
type drawer struct {
	defaults    map[string]reflect.Value // structs with the values for an empty file, by type
	notes       map[string]string        // comments on types and fields, by name
	definitions object
}

func (d *drawer) draw(of reflect.Type) object {
	if form, known := forms[of]; known {
		return form
	}
	if written, isText := texts[of]; isText {
		return object{"type": "string", "description": written.want}
	}
	const variable = `\$\{`
	switch {
	case of.Kind() == reflect.Pointer:
		return d.draw(of.Elem())
	case of.Kind() == reflect.Slice:
		return object{"type": "array", "items": d.draw(of.Elem())}
	case of.Kind() == reflect.Map:
		return object{"type": "object", "additionalProperties": d.draw(of.Elem())}
	case of.Kind() == reflect.Struct:
		if d.definitions[of.Name()] == nil {
			d.definitions[of.Name()] = object{} // ends the recursion of a struct that contains itself
			d.definitions[of.Name()] = d.drawStruct(of)
		}
		return object{"$ref": "#/$defs/" + of.Name()}
	case of.Kind() == reflect.Bool:
		return object{"type": []string{"boolean", "string"}, "pattern": variable}
	case of.Kind() == reflect.Float64:
		return object{"type": []string{"number", "string"}, "pattern": variable}
	case of.Kind() == reflect.String:
		return object{"type": "string"}
	}
	whole := object{"type": []string{"integer", "string"}, "pattern": variable}
	if reflect.Zero(of).CanUint() {
		whole["minimum"] = 0
	}
	return whole
}

func (d *drawer) drawStruct(of reflect.Type) object {
	properties := object{}
	for field := range of.Fields() {
		key := field.Tag.Get("yaml")
		if key == "" {
			continue
		}
		drawn := object{}
		for name, value := range d.draw(field.Type) {
			drawn[name] = value
		}
		note := cmp.Or(d.notes[of.Name()+"."+field.Name], d.notes[structOf(field.Type).Name()])
		if note != "" {
			drawn["description"] = note
		}
		if values, known := d.defaults[of.Name()]; known {
			if text := defaultText(values.FieldByIndex(field.Index)); text != nil {
				drawn["default"] = text
			}
		}
		if limits, given := boundsOf(field); given {
			drawBounds(drawn, limits, field.Type)
		}
		if choices := choicesOf(field); len(choices) > 0 && field.Type.Kind() == reflect.Map {
			drawn["additionalProperties"] = object{"enum": choices}
		} else if len(choices) > 0 {
			drawn["enum"] = choices
		}
		properties[key] = drawn
	}
	drawn := object{"type": "object", "description": d.notes[of.Name()], "properties": properties, "additionalProperties": false}
	if keys := required[of.Name()]; len(keys) > 0 {
		drawn["required"] = keys
	}
	return drawn
}

// drawBounds adds the bounds of a field, in words if JSON schema cannot compare.
func drawBounds(drawn object, limits bounds, of reflect.Type) {
	drawn["description"] = fmt.Sprintf("%s (%s)", drawn["description"], limits)
	if of.Kind() == reflect.Map {
		values := object{}
		maps.Copy(values, drawn["additionalProperties"].(object))
		drawn["additionalProperties"] = values
		drawn, of = values, of.Elem()
	}
	if of == reflect.TypeFor[time.Duration]() {
		return
	}
	if limits.least != "" {
		drawn["minimum"] = limits.number(limits.least, of)
	}
	if limits.most != "" {
		drawn["maximum"] = limits.number(limits.most, of)
	}
}

// structOf returns the struct in a value, or in a list or map of them.
func structOf(of reflect.Type) reflect.Type {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice || of.Kind() == reflect.Map {
		of = of.Elem()
	}
	return of
}

// defaultText returns a default as written in a file; nil if there is none.
func defaultText(value reflect.Value) any {
	if level, is := value.Interface().(slog.Level); is {
		return strings.ToLower(level.String()) // for which info is zero
	}
	if value.IsZero() || value.Kind() == reflect.Struct || value.Kind() == reflect.Slice || value.Kind() == reflect.Map || value.Kind() == reflect.Pointer {
		return nil
	}
	switch v := value.Interface().(type) {
	case time.Duration:
		return shortDuration(v)
	case Bytes:
		return fmt.Sprintf("%dMiB", v>>20)
	}
	return value.Interface()
}

// defaultsOf collects the structs of a configuration by type, each once.
func defaultsOf(value reflect.Value, found map[string]reflect.Value) {
	kind := value.Type()
	if _, isText := texts[kind]; isText || kind.Kind() != reflect.Struct {
		return
	}
	if _, again := found[kind.Name()]; again {
		found[kind.Name()] = reflect.Zero(kind) // its defaults depend on where it is
		return
	}
	found[kind.Name()] = value
	for field, of := range value.Fields() {
		if field.Tag.Get("yaml") != "" {
			defaultsOf(of, found)
		}
	}
}

// TestSchemaIsThatOfTheTypes compares schema.json with the schema of the types and their comments.
func TestSchemaIsThatOfTheTypes(t *testing.T) {
	d := &drawer{notes: readComments(t), definitions: object{}, defaults: map[string]reflect.Value{}}
	defaultsOf(reflect.ValueOf(base()), d.defaults)
	whole := d.draw(reflect.TypeFor[Config]())
	whole["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	whole["title"] = "Configuration of Crossgate"
	whole["$defs"] = d.definitions
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	must.Do(t, encoder.Encode(whole))
	golden.Check(t, "schema.json", text.String()) // which Schema embeds
}

func TestEveryKeyIsDescribed(t *testing.T) {
	var drawn struct {
		Definitions map[string]struct {
			Description string
			Properties  map[string]struct{ Description string }
		} `json:"$defs"`
	}
	must.Do(t, json.Unmarshal(Schema(), &drawn))
	for name, definition := range drawn.Definitions {
		for key, property := range definition.Properties {
			if property.Description == "" {
				t.Errorf("the schema says nothing of %s.%s: comment the field", name, key)
			}
		}
	}
}

// shortDuration formats a duration as 30m where Go writes 30m0s.
func shortDuration(d time.Duration) string {
	text := d.String()
	for _, unit := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, unit) {
			text = text[:len(text)-2]
		}
	}
	return text
}
