// Package golden has the texts that tests compare: it compares them with files, rewrites the files on
// go test PACKAGE -update, takes them out of pages, and looks for their parts.
package golden

import (
	"flag"
	"html"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"crossgate/internal/must"
)

var update = flag.Bool("update", false, "write golden files anew")

// IsUpdated reports whether tests rewrite their files, for tests whose files are not just text.
func IsUpdated() bool { return *update }

// Check fails the test unless the file contains text.
func Check(tb testing.TB, path, text string) {
	tb.Helper()
	if *update {
		must.Do(tb, os.WriteFile(path, []byte(text), 0o644))
	}
	if diff := cmp.Diff(string(must.Get(os.ReadFile(path))(tb)), text); diff != "" {
		tb.Errorf("%s: go test -run %s -update writes it anew (-want +got):\n%s", path, tb.Name(), diff)
	}
}

// Contains fails the test for each part that text, which is what is named, does not have.
func Contains(tb testing.TB, what, text string, parts ...string) {
	tb.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			tb.Errorf("%s lacks %q: %s", what, part, text)
		}
	}
}

var tag = regexp.MustCompile(`<[^>]*>`)

// PageText returns a page of HTML, or a part of one, without its tags, on one line.
func PageText(page string) string {
	return html.UnescapeString(strings.Join(strings.Fields(tag.ReplaceAllString(page, " ")), " "))
}
