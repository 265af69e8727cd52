package venue

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"crossgate/upstream"
)

// TestErrorsAreShortWhateverIsLong has each text and number of every fixture's answers be a long one, in turn.
func TestErrorsAreShortWhateverIsLong(t *testing.T) {
	s := baseSwap(t, "1000000000000000000")
	for name, read := range readers {
		profile := profileOf(t, name)
		archive, err := txtar.ParseFile(filepath.Join("testdata", name+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range archive.Files {
			_, body, _ := strings.Cut(string(file.Data), "\n")
			if !strings.HasSuffix(file.Name, ".answer") || !json.Valid([]byte(body)) {
				continue
			}
			for _, long := range []any{
				strings.Repeat("lengthy", 300), "0x" + strings.Repeat("ab", 1000), json.Number(strings.Repeat("7", 2000)),
			} {
				eachLeaf(t, body, long, func(altered []byte) {
					for _, status := range []int{200, 400} {
						promise(t, read(upstream.Response{Status: status, Body: altered}, profile, s), profile, s)
					}
				})
			}
		}
	}
}

// eachLeaf calls with a JSON text in which one value that holds no others is another, for each of them.
func eachLeaf(t *testing.T, text string, another any, call func(altered []byte)) {
	t.Helper()
	var whole any
	if err := json.Unmarshal([]byte(text), &whole); err != nil {
		t.Fatal(err)
	}
	write := func() {
		altered, err := json.Marshal(whole)
		if err != nil {
			t.Fatal(err)
		}
		call(altered)
	}
	var visit func(value any, set func(any))
	visit = func(value any, set func(any)) {
		switch holder := value.(type) {
		case map[string]any:
			for key, each := range holder {
				visit(each, func(to any) { holder[key] = to })
			}
		case []any:
			for i, each := range holder {
				visit(each, func(to any) { holder[i] = to })
			}
		default:
			set(another)
			write()
			set(value)
		}
	}
	visit(whole, func(to any) { whole = to })
}
