package config

import (
	"cmp"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Print writes the configuration that is in force as YAML: what the file says, with environment variables in place,
// and what holds for keys that it leaves out, marked as default. Keys without either are not listed. Secrets are
// [redacted].
func (c Config) Print(out io.Writer) error {
	encoder := yaml.NewEncoder(out)
	encoder.SetIndent(2)
	if err := encoder.Encode(c.node(reflect.ValueOf(c), place{})); err != nil {
		return fmt.Errorf("print configuration: %w", err)
	}
	return encoder.Close()
}

// node is the YAML of a value, nil where there is none.
func (c Config) node(value reflect.Value, at place) *yaml.Node {
	_, isGiven := c.lines[at.path]
	if value.IsZero() && !isGiven {
		return nil
	}
	made := &yaml.Node{Kind: yaml.MappingNode}
	add := func(key string, below *yaml.Node) {
		if below != nil {
			made.Content = append(made.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, below)
		}
	}
	_, isText := texts[value.Type()]
	switch {
	case isText:
		made = scalar(value)
	case value.Kind() == reflect.Pointer:
		return c.node(value.Elem(), at)
	case value.Kind() == reflect.Struct:
		for field, of := range value.Fields() {
			if key := field.Tag.Get("yaml"); key != "" {
				add(key, c.node(of, at.key(key)))
			}
		}
		if len(made.Content) == 0 {
			return nil
		}
		return made
	case value.Kind() == reflect.Map:
		keys := value.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
		for _, key := range keys {
			add(key.String(), c.node(value.MapIndex(key), at.key(key.String())))
		}
	case value.Kind() == reflect.Slice:
		made.Kind = yaml.SequenceNode
		for i := range value.Len() {
			if below := c.node(value.Index(i), at.item(i)); below != nil {
				made.Content = append(made.Content, below)
			}
		}
	default:
		made = scalar(value)
	}
	if !isGiven {
		made.LineComment = "default"
	}
	return made
}

// scalar writes a single value as decode reads it.
func scalar(value reflect.Value) *yaml.Node {
	node := &yaml.Node{Kind: yaml.ScalarNode, Value: fmt.Sprint(value.Interface())}
	switch v := value.Interface().(type) {
	case Bytes:
		node.Value = strconv.FormatInt(int64(v), 10)
	case Secret:
		node.Tag = "!!str"
	case time.Duration:
		node.Value = shortDuration(v)
	}
	if value.Kind() == reflect.String {
		node.Tag = "!!str"
	}
	return node
}

// shortDuration is 30m where Go writes 30m0s.
func shortDuration(d time.Duration) string {
	text := d.String()
	for _, unit := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, unit) {
			text = text[:len(text)-2]
		}
	}
	return text
}
