package stories_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"crossgate/internal/must"
)

// TestReadmeShowsARealAnswer makes the request of README.md and looks for the lines that it shows.
func TestReadmeShowsARealAnswer(t *testing.T) {
	t.Parallel()
	text := must.Get(os.ReadFile(filepath.Join("..", "..", "README.md")))(t)
	shown := regexp.MustCompile("(?s)<!-- request and answer: begin -->.*curl http://127.0.0.1:8080(\\S+)\n```\n```json\n(.*?)```").FindSubmatch(text)
	if shown == nil {
		t.Fatal("README.md shows no request with its answer")
	}
	var answer json.RawMessage
	get(t, readingFront(t).url+string(shown[1]), &answer)
	var indented bytes.Buffer
	must.Do(t, json.Indent(&indented, answer, "", "  "))
	rest := indented.String()
	for line := range strings.Lines(string(shown[2])) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), "…")
		_, after, found := strings.Cut(rest, line)
		if !found {
			t.Fatalf("README.md shows %s, the gateway answers %.300s", line, rest)
		}
		rest = after
	}
}
