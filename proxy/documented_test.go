package proxy

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"crossgate/internal/must"
)

// TestEveryErrorIsDocumented requires every kind of problem to be documented and to have a number of its own.
func TestEveryErrorIsDocumented(t *testing.T) {
	source := must.Get(os.ReadFile("problem.go"))(t)
	ids := regexp.MustCompile(`Kind\{\s*\d+, (\d+), "([A-Z_]+)"`).FindAllSubmatch(source, -1)
	byNumber := map[string]string{}
	for _, found := range ids {
		number, id := string(found[1]), string(found[2])
		if id != clientLeft.ID && !strings.Contains(string(OpenAPI), id) {
			t.Errorf("%s is not in openapi.yaml", id)
		}
		if other, taken := byNumber[number]; taken && other != id {
			t.Errorf("%s has the number %s of %s", id, number, other)
		}
		byNumber[number] = id
	}
	if len(ids) < 25 {
		t.Errorf("problem.go has %d kinds, want at least 25: the search is wrong", len(ids))
	}
}
