// Package golden compares what tests expect with what they get: texts with files, which it rewrites on
// go test PACKAGE -update, parts with texts, and values with each other. It takes texts out of pages.
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

// Contains fails the test for each part that a text lacks. The name is that of the text, for the message.
func Contains(tb testing.TB, name, text string, parts ...string) {
	tb.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			tb.Errorf("%s lacks %q: %s", name, part, text)
		}
	}
}

// Same fails the test unless two values are equal by the rules of package cmp.
func Same(tb testing.TB, name string, want, got any, options ...cmp.Option) {
	tb.Helper()
	if diff := cmp.Diff(want, got, options...); diff != "" {
		tb.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

var tag = regexp.MustCompile(`<[^>]*>`)

// PageText returns a page of HTML, or a part of one, without its tags, on one line.
func PageText(page string) string {
	return html.UnescapeString(strings.Join(strings.Fields(tag.ReplaceAllString(page, " ")), " "))
}
