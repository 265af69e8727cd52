package web

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"crossgate/internal/must"
)

// sheet returns a style sheet.
func sheet(t *testing.T, name string) string {
	t.Helper()
	return string(must.Get(fs.ReadFile(Assets(), name))(t))
}

// tokensIn returns the custom properties that match a pattern, each once.
func tokensIn(text, pattern string) []string {
	var found []string
	for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		found = append(found, match[1])
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func TestTokensOfTheDesignAreThoseOfTheSheet(t *testing.T) {
	page := must.Get(os.ReadFile(filepath.Join("..", "..", "docs", "pages.md")))(t)
	defined, documented := tokensIn(sheet(t, "tokens.css"), `(--[a-z0-9-]+):`), tokensIn(string(page), "`(--[a-z0-9-]+)`")
	if !slices.Equal(defined, documented) {
		t.Errorf("tokens.css defines %v, docs/pages.md has %v", defined, documented)
	}
}

func TestRulesNameTokensInsteadOfValues(t *testing.T) {
	defined := tokensIn(sheet(t, "tokens.css"), `(--[a-z0-9-]+):`)
	for _, name := range []string{"style.css"} {
		rules := sheet(t, name)
		local := tokensIn(rules, `(--[a-z0-9-]+):`) // such as --tone, which a state sets for its parts
		for _, used := range tokensIn(rules, `var\((--[a-z0-9-]+)`) {
			if !slices.Contains(defined, used) && !slices.Contains(local, used) {
				t.Errorf("%s uses %s, which tokens.css does not define", name, used)
			}
		}
		if values := regexp.MustCompile(`#[0-9a-fA-F]{3,8}\b|rgba?\(|hsla?\(|font-size: [0-9.]+(rem|px)`).FindAllString(rules, -1); values != nil {
			t.Errorf("%s has values of its own: %v", name, values)
		}
	}
}

// TestRulesAreForSomething finds rules for classes that no template or script uses.
func TestRulesAreForSomething(t *testing.T) {
	var users strings.Builder
	for _, pattern := range []string{"templates/*.html", "../pages/templates/*.html", "../pages/*/templates/*.html", "assets/*.js", "*.go", "../pages/*.go", "../pages/*/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %v", pattern, files, err)
		}
		for _, file := range files {
			users.Write(must.Get(os.ReadFile(file))(t))
		}
	}
	rules := regexp.MustCompile(`(?s)/\*.*?\*/|\{[^{}]*\}`).ReplaceAllString(sheet(t, "style.css"), "")
	for _, class := range tokensIn(rules, `\.([a-z][a-z-]*)`) {
		if !regexp.MustCompile(`\b` + class + `\b`).MatchString(users.String()) {
			t.Errorf("style.css has rules for .%s, which nothing has", class)
		}
	}
}
