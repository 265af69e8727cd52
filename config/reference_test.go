package config

import (
	"encoding"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"crossgate/chain"
)

var update = flag.Bool("update", false, "write docs/configuration.md anew")

// TestReferenceIsWhatTheTypesSay compares docs/configuration.md with the types of this package: their keys, their
// defaults and their comments.
func TestReferenceIsWhatTheTypesSay(t *testing.T) {
	r := reference{comments: readComments(t), told: map[reflect.Type]string{}}
	r.text.WriteString("# Configuration\n\nWritten by `go test ./config -update` from the types of package config; a test compares the two.\n" +
		"[deploy/crossgate.yaml](../deploy/crossgate.yaml) is an example with every key. `crossgate check --config FILE` names\n" +
		"every mistake in a file with its path and line.\n\n" +
		"`${NAME}` in a value is the environment variable NAME, or the content of the file that NAME_FILE names. A duration is `250ms`, `5s` or `1m`, a size `64MiB` or `1GiB`.\n" +
		"A *secret* is a text that is never printed. Where a key has no default, nothing stands for it.\n")
	r.section("", "The file", reflect.ValueOf(base()))
	for len(r.ahead) > 0 {
		next := r.ahead[0]
		r.ahead = r.ahead[1:]
		r.section(next.path, "`"+next.path+"`", next.value)
	}
	path := filepath.Join("..", "docs", "configuration.md")
	if *update {
		if err := os.WriteFile(path, []byte(r.text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	written, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(written) != r.text.String() {
		t.Error("docs/configuration.md is not what the types say: go test ./config -update writes it anew")
	}
}

// reference is the document as it grows.
type reference struct {
	text     strings.Builder
	comments map[string]string       // by Type and Type.Field
	told     map[reflect.Type]string // paths of the structs that have a section
	ahead    []part
}

// part is a struct whose keys still have to be told.
type part struct {
	path  string
	value reflect.Value
}

func (r *reference) section(path, title string, value reflect.Value) {
	kind := value.Type()
	fmt.Fprintf(&r.text, "\n## %s\n\n", title)
	if comment := r.comments[kind.Name()]; comment != "" {
		r.text.WriteString(comment + "\n\n")
	}
	r.text.WriteString("| Key | Value | Default | Meaning |\n|---|---|---|---|\n")
	for i := range kind.NumField() {
		field := kind.Field(i)
		key := field.Tag.Get("yaml")
		if key == "" {
			continue
		}
		below := strings.TrimPrefix(path+"."+key, ".")
		fmt.Fprintf(&r.text, "| `%s` | %s | %s | %s |\n",
			key, r.kindOf(field.Type, below, value.Field(i)), defaultOf(value.Field(i)), r.comments[kind.Name()+"."+field.Name])
	}
}

// kindOf says what a value looks like, and has the keys of a struct told later.
func (r *reference) kindOf(kind reflect.Type, path string, value reflect.Value) string {
	switch kind {
	case reflect.TypeFor[time.Duration]():
		return "duration"
	case reflect.TypeFor[Bytes]():
		return "size"
	case reflect.TypeFor[Secret]():
		return "secret"
	case reflect.TypeFor[chain.Address]():
		return "address"
	case reflect.TypeFor[chain.Family]():
		return "`evm`, `solana` or `tron`"
	case reflect.TypeFor[Execution]():
		return "`router`, `direct` or `best`"
	}
	if kind != reflect.TypeFor[chain.ID]() && reflect.PointerTo(kind).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return "text"
	}
	switch kind.Kind() {
	case reflect.Struct:
		if first, told := r.told[kind]; told {
			return "section like `" + first + "`"
		}
		r.told[kind] = path
		r.ahead = append(r.ahead, part{path, value})
		return "section"
	case reflect.Pointer:
		return r.kindOf(kind.Elem(), path, reflect.New(kind.Elem()).Elem())
	case reflect.Slice:
		element := r.kindOf(kind.Elem(), path+"[]", reflect.New(kind.Elem()).Elem())
		return "list of " + plural(element)
	case reflect.Map:
		return "map of names to " + plural(r.kindOf(kind.Elem(), path, reflect.New(kind.Elem()).Elem()))
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	}
	return "number"
}

func plural(kind string) string {
	switch noun, rest, more := strings.Cut(kind, " "); {
	case kind == "address":
		return "addresses"
	case more:
		return noun + "s " + rest
	}
	return kind + "s"
}

// defaultOf is what stands for a key that the file does not give.
func defaultOf(value reflect.Value) string {
	if value.Kind() == reflect.Struct || value.Kind() == reflect.Slice || value.Kind() == reflect.Map || value.IsZero() {
		return ""
	}
	switch d := value.Interface().(type) {
	case time.Duration:
		return "`" + strings.TrimSuffix(strings.TrimSuffix(d.String(), "0s"), "0m") + "`"
	case Bytes:
		return fmt.Sprintf("`%dMiB`", d>>20)
	}
	return fmt.Sprintf("`%v`", value.Interface())
}

// readComments reads what the sources say of the types and their fields.
func readComments(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	comments := map[string]string{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, declared := range file.Decls {
			if general, isGeneral := declared.(*ast.GenDecl); isGeneral {
				readTypes(comments, general)
			}
		}
	}
	return comments
}

func readTypes(comments map[string]string, declared *ast.GenDecl) {
	for _, spec := range declared.Specs {
		named, isType := spec.(*ast.TypeSpec)
		if !isType {
			continue
		}
		comments[named.Name.Name] = sentence(declared.Doc.Text(), named.Name.Name)
		fields, isStruct := named.Type.(*ast.StructType)
		if !isStruct {
			continue
		}
		for _, field := range fields.Fields.List {
			for _, name := range field.Names {
				comments[named.Name.Name+"."+name.Name] = sentence(field.Doc.Text()+field.Comment.Text(), name.Name)
			}
		}
	}
}

// sentence is a comment on one line, without the name that it begins with.
func sentence(comment, name string) string {
	words := strings.Join(strings.Fields(comment), " ")
	words = strings.ReplaceAll(words, "|", "\\|")
	rest, named := strings.CutPrefix(words, name+" ")
	if !named || rest == "" {
		return words
	}
	for _, verb := range []string{"is ", "are "} {
		rest = strings.TrimPrefix(rest, verb)
	}
	return strings.ToUpper(rest[:1]) + rest[1:]
}
