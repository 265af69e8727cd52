package rawjson_test

import (
	"encoding/json"
	"testing"

	"crossgate/internal/rawjson"
)

// FuzzValue: the value that a text begins with is as long as encoding/json finds it, and other texts end as well.
func FuzzValue(f *testing.F) {
	for _, text := range []string{`{"a\"]":[1,{"b":"}"}],"c":null} rest`, ` [ [ ] , "\\" ]`, `"a" : 1`, `12,3`, `true}`, `[`, `"\`, ``, `]`, "\t"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		left := rawjson.Text(text)
		value := left.Value()
		for rest := rawjson.Text(text); !rest.IsEmpty(); {
			if len(rest.Value()) == 0 && !rest.Take(rest[0]) {
				t.Fatalf("%q is never at its end", rest)
			}
		}
		if !json.Valid(text) {
			return
		}
		if !json.Valid(value) || !left.IsEmpty() {
			t.Errorf("%q begins with %q, %q is left", text, value, left)
		}
		list := rawjson.Text(append(append([]byte("[ "), text...), ", 1]"...))
		if begins, first, goesOn := list.Take('['), list.Value(), list.Take(','); !begins || string(first) != string(value) || !goesOn {
			t.Errorf("in a list, %q is %q, and goes on: %t", value, first, goesOn)
		}
	})
}
