package config

import (
	"bytes"
	"encoding/json"
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

type object = map[string]any

// forms are the schemas of values that are written as text. In place of any value a variable may stand.
var forms = map[reflect.Type]object{
	reflect.TypeFor[time.Duration](): {"type": "string", "pattern": `^([0-9.]+(ns|us|µs|ms|s|m|h))+$|^0$|\$\{`},
	reflect.TypeFor[Bytes]():         {"type": []string{"integer", "string"}, "pattern": `^[0-9]+ ?([kMG]?B|[KMG]iB)?$|\$\{`},
	reflect.TypeFor[Unsimulated]():   {"enum": []Unsimulated{RefuseUnsimulated, AllowUnsimulated}},
	reflect.TypeFor[Execution]():     {"enum": []Execution{ExecuteByRouter, ExecuteDirectly, ExecuteBest}},
	reflect.TypeFor[chain.Family]():  {"enum": []string{"evm", "solana", "tron"}},
	reflect.TypeFor[chain.ID]():      {"type": []string{"integer", "string"}, "pattern": `^[0-9]+$|\$\{`, "minimum": 1},
}

// drawer makes a schema of types.
type drawer struct {
	notes       map[string]string // comments on types and on fields, by their names in the source
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
			d.definitions[of.Name()] = object{} // one that holds itself ends here
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
	return object{"type": []string{"integer", "string"}, "pattern": variable}
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
		if note := d.notes[of.Name()+"."+field.Name]; note != "" {
			drawn["description"] = note
		}
		properties[key] = drawn
	}
	return object{"type": "object", "description": d.notes[of.Name()], "properties": properties, "additionalProperties": false}
}

// notesOf reads the comments of the package's structs.
func notesOf(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	notes := make(map[string]string)
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			declaration, isTypes := n.(*ast.GenDecl)
			if !isTypes || declaration.Tok != token.TYPE {
				return true
			}
			for _, spec := range declaration.Specs {
				note(notes, declaration.Doc, spec.(*ast.TypeSpec))
			}
			return false
		})
	}
	return notes
}

func note(notes map[string]string, doc *ast.CommentGroup, spec *ast.TypeSpec) {
	structure, isStruct := spec.Type.(*ast.StructType)
	if !isStruct {
		return
	}
	notes[spec.Name.Name] = inOneLine(doc)
	for _, field := range structure.Fields.List {
		for _, name := range field.Names {
			notes[spec.Name.Name+"."+name.Name] = strings.TrimSpace(inOneLine(field.Doc) + " " + inOneLine(field.Comment))
		}
	}
}

func inOneLine(comment *ast.CommentGroup) string {
	return strings.Join(strings.Fields(comment.Text()), " ")
}

// TestSchemaIsThatOfTheTypes keeps schema.json equal to what the types and their comments make.
func TestSchemaIsThatOfTheTypes(t *testing.T) {
	d := &drawer{notes: notesOf(t), definitions: object{}}
	whole := d.draw(reflect.TypeFor[Config]())
	whole["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	whole["title"] = "Configuration of Crossgate"
	whole["$defs"] = d.definitions
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(whole); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("schema.json", text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(text.Bytes(), Schema()) {
		t.Error("schema.json is not that of the types: run go test ./config -run Schema -update")
	}
}
