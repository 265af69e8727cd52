package wire

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// checkGolden compares an answer with testdata/name.json, which is the same JSON with line breaks. It also
// holds the answer to being valid and without a byte of white space.
func checkGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	var compact, indented bytes.Buffer
	if err := json.Compact(&compact, got); err != nil {
		t.Fatalf("%s is not JSON: %v\n%s", name, err, got)
	}
	if !bytes.Equal(compact.Bytes(), got) {
		t.Errorf("%s has white space", name)
	}
	if err := json.Indent(&indented, got, "", "  "); err != nil {
		t.Fatal(err)
	}
	indented.WriteByte('\n')
	path := filepath.Join("testdata", name+".json")
	if *update {
		if err := os.WriteFile(path, indented.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("golden file: %v (write it with -update)", err)
	}
	if diff := cmp.Diff(string(want), indented.String()); diff != "" {
		t.Errorf("%s differs from its golden file (-want +got):\n%s", name, diff)
	}
}
