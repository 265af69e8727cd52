package proxy

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestEveryErrorIsDocumented looks for the id of every kind of problem in the document.
func TestEveryErrorIsDocumented(t *testing.T) {
	source, err := os.ReadFile("problem.go")
	if err != nil {
		t.Fatal(err)
	}
	ids := regexp.MustCompile(`Kind\{\s*\d+, \d+, "([A-Z_]+)"`).FindAllSubmatch(source, -1)
	for _, id := range ids {
		if string(id[1]) != clientLeft.ID && !strings.Contains(string(OpenAPI), string(id[1])) {
			t.Errorf("%s is not in openapi.yaml", id[1])
		}
	}
	if len(ids) < 25 {
		t.Errorf("problem.go has %d kinds, want at least 25: the search is wrong", len(ids))
	}
}
