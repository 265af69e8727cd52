package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"crossgate/config"
	"crossgate/internal/golden"
	"crossgate/internal/must"
)

// TestEveryMistakeIsReportedAtOnce parses the texts of testdata/mistakes.txtar: all that is wrong with each is in the
// file behind it, which -update writes, and quotes no secret.
func TestEveryMistakeIsReportedAtOnce(t *testing.T) {
	path := filepath.Join("testdata", "mistakes.txtar")
	archive := must.Get(txtar.ParseFile(path))(t)
	for i := 0; i < len(archive.Files); i += 2 {
		text, want := archive.Files[i], &archive.Files[i+1]
		said := "none\n"
		if _, err := config.Parse(text.Data); err != nil {
			said = err.Error() + "\n"
		}
		if golden.IsUpdated() {
			want.Data = []byte(said)
		}
		golden.Same(t, text.Name, string(want.Data), said)
		if strings.Contains(said, "SECRET") {
			t.Errorf("%s: the report quotes a secret: %s", text.Name, said)
		}
	}
	if golden.IsUpdated() {
		must.Do(t, os.WriteFile(path, txtar.Format(archive), 0o644))
	}
}
