package config

import (
	"errors"
	"log/slog"
	"maps"
	"math"
	"net/netip"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"crossgate/chain"
	"crossgate/internal/didyoumean"
)

// decode reads node into a value by its yaml tags. It replaces the YAML package's decoder, which stops at the first
// unknown key of a mapping, and whose errors lack paths and quote values.
func decode(node *yaml.Node, into reflect.Value, at place) {
	at.in.lines[at.path] = node.Line
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	if node.ShortTag() == "!!null" {
		return
	}
	switch _, isText := texts[into.Type()]; {
	case isText:
		decodeScalar(node, into, at)
	case into.Kind() == reflect.Pointer:
		into.Set(reflect.New(into.Type().Elem()))
		decode(node, into.Elem(), at)
	case into.Kind() == reflect.Struct:
		decodeStruct(node, into, at)
	case into.Kind() == reflect.Map:
		into.Set(reflect.MakeMap(into.Type()))
		for key, value := range entries(node, at) {
			element := reflect.New(into.Type().Elem()).Elem()
			decode(value, element, at.key(key))
			into.SetMapIndex(reflect.ValueOf(key), element)
		}
	case into.Kind() == reflect.Slice && node.Kind != yaml.SequenceNode:
		at.mistake("want a list")
	case into.Kind() == reflect.Slice:
		into.Set(reflect.MakeSlice(into.Type(), len(node.Content), len(node.Content)))
		for i, element := range node.Content {
			decode(element, into.Index(i), at.item(i))
		}
	default:
		decodeScalar(node, into, at)
	}
}

func decodeStruct(node *yaml.Node, into reflect.Value, at place) {
	fields := make(map[string]reflect.Value)
	for field, value := range into.Fields() {
		if name := field.Tag.Get("yaml"); name != "" {
			fields[name] = value
		}
	}
	for key, value := range entries(node, at) {
		field, known := fields[key]
		if !known {
			known := slices.Sorted(maps.Keys(fields))
			at.key(key).mistake("unknown key%s; known keys: %s", didyoumean.Suggest(key, known), strings.Join(known, ", "))
			continue
		}
		decode(value, field, at.key(key))
	}
}

// entries iterates over the keys and values of a mapping, each key once.
func entries(node *yaml.Node, at place) func(yield func(string, *yaml.Node) bool) {
	return func(yield func(string, *yaml.Node) bool) {
		if node.Kind != yaml.MappingNode {
			at.mistake("want a mapping")
			return
		}
		first := make(map[string]int)
		for i := 0; i < len(node.Content); i += 2 {
			key, value := node.Content[i], node.Content[i+1]
			isPath := key.Style != 0 && strings.HasPrefix(key.Value, "/")        // in quotes
			if name, _, isRun := strings.Cut(key.Value, ":"); isRun && !isPath { // the rest is a value: do not quote it
				at.in.lines[at.key(name).path] = key.Line
				at.key(name).mistake("want a space after the colon")
				continue
			}
			at.in.lines[at.key(key.Value).path] = key.Line
			if line, given := first[key.Value]; given {
				at.key(key.Value).mistake("duplicate key, first in line %d", line)
				continue
			}
			first[key.Value] = key.Line
			if !yield(key.Value, value) {
				return
			}
		}
	}
}

// decodeScalar reads a single value, with environment variables in it expanded.
func decodeScalar(node *yaml.Node, into reflect.Value, at place) {
	if node.Kind != yaml.ScalarNode {
		at.mistake("want a single value")
		return
	}
	// Where ${ begins something else than a reference the text would be used as it is, in the place of a key.
	if strings.Contains(variable.ReplaceAllLiteralString(node.Value, " "), "${") {
		at.mistake("want ${NAME}: letters, digits and _ between braces, and no default")
		return
	}
	text, missing := at.in.expand(node.Value)
	if len(missing) > 0 {
		at.mistake("environment variable not set: %s", strings.Join(missing, ", "))
		return
	}
	if want := setText(into, text); want != "" {
		at.mistake("want %s", want)
	}
}

// setText parses text into a value; want describes the expected form if that fails.
func setText(into reflect.Value, text string) (want string) {
	form, isText := texts[into.Type()]
	if !isText {
		return setScalar(into, text)
	}
	value, err := form.parse(text)
	if err != nil {
		return form.want
	}
	into.Set(reflect.ValueOf(value))
	return ""
}

// setScalar parses text into a value of a basic kind; want describes the expected form if that fails.
func setScalar(into reflect.Value, text string) (want string) {
	bits := 0
	if into.CanInt() || into.CanUint() || into.CanFloat() {
		bits = into.Type().Bits()
	}
	switch {
	case into.Kind() == reflect.String:
		into.SetString(text)
	case into.Kind() == reflect.Bool:
		value, err := strconv.ParseBool(text)
		if err != nil {
			return "true or false"
		}
		into.SetBool(value)
	case into.CanInt():
		value, err := strconv.ParseInt(text, 10, bits)
		if err != nil {
			return "a whole number"
		}
		into.SetInt(value)
	case into.CanUint():
		value, err := strconv.ParseUint(text, 10, bits)
		if err != nil {
			return "a whole number, at least 0"
		}
		into.SetUint(value)
	case into.CanFloat():
		value, err := strconv.ParseFloat(text, bits)
		if err != nil {
			return "a number"
		}
		into.SetFloat(value)
	default:
		panic("config: no reader for a field of type " + into.Type().String())
	}
	return ""
}

type text struct {
	want  string
	parse func(string) (any, error)
}

func form[T any](want string, parse func(string) (T, error)) text {
	return text{want, func(s string) (any, error) { return parse(s) }}
}

var texts = map[reflect.Type]text{
	reflect.TypeFor[time.Duration](): form("a duration such as 2500ms, 5s or 1m", time.ParseDuration),
	reflect.TypeFor[Bytes]():         form("a size such as 64MiB or 1GiB", ParseBytes),
	reflect.TypeFor[Secret]():        form("text", func(s string) (Secret, error) { return NewSecret(s), nil }),
	reflect.TypeFor[netip.Prefix]():  form("an IP address or a CIDR range such as 10.0.0.0/8", parsePrefix),
	reflect.TypeFor[chain.Family]():  form("evm, solana or tron", chain.ParseFamily),
	reflect.TypeFor[chain.ID]():      form("a chain id as used by the API", chain.ParseID),
	reflect.TypeFor[chain.Hash]():    form("the hash of a block in base58", chain.ParseSolanaHash),
	reflect.TypeFor[slog.Level](): form("debug, info, warn or error", func(s string) (level slog.Level, err error) {
		err = level.UnmarshalText([]byte(s))
		return level, err
	}),
	reflect.TypeFor[chain.Address](): form("an address: 0x and 40 hex digits, or base58 on Solana and TRON",
		func(s string) (chain.Address, error) {
			if chain.ChecksumFails(s) {
				return chain.Address{}, errors.New("wrong EIP-55 checksum")
			}
			address, _, err := chain.ParseAnyAddress(s)
			return address, err
		}),
}

var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// expand replaces ${NAME} by the environment variable of that name and lists unset variables. If only NAME_FILE is set,
// the value is the trimmed content of that file: secrets are often mounted as files.
func (r *report) expand(text string) (expanded string, missing []string) {
	expanded = variable.ReplaceAllStringFunc(text, func(reference string) string {
		name := reference[2 : len(reference)-1]
		value, set := os.LookupEnv(name)
		if file := os.Getenv(name + "_FILE"); !set && file != "" {
			content, err := os.ReadFile(file)
			if err != nil {
				missing = append(missing, name+" (cannot read the file in "+name+"_FILE)")
				return ""
			}
			value, set = strings.TrimSpace(string(content)), true
		}
		if !set {
			missing = append(missing, name)
		}
		r.reads.WriteString("\x00" + value)
		return value
	})
	return expanded, missing
}

// Bytes is an amount of memory or storage.
type Bytes int64

// units are the suffixes that ParseBytes accepts. The empty one matches anything, so it is last.
var units = []struct {
	name string
	size int64
}{
	{"KiB", 1 << 10},
	{"MiB", 1 << 20},
	{"GiB", 1 << 30},
	{"kB", 1e3},
	{"MB", 1e6},
	{"GB", 1e9},
	{"B", 1},
	{"", 1},
}

var errNoSize = errors.New("not a size")

// ParseBytes parses a whole number of bytes, or of a unit (B, kB, KiB, MB, MiB, GB, GiB).
func ParseBytes(text string) (Bytes, error) {
	for _, unit := range units {
		digits, found := strings.CutSuffix(text, unit.name)
		if !found {
			continue
		}
		number, err := strconv.ParseUint(strings.TrimSpace(digits), 10, 63)
		if err != nil || int64(number) > math.MaxInt64/unit.size {
			return 0, errNoSize
		}
		return Bytes(int64(number) * unit.size), nil
	}
	return 0, errNoSize
}
