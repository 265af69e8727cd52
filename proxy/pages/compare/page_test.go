package compare

import (
	"bytes"
	"encoding/json"
	"html"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"crossgate/chain"
)

// noon is when the pages of these tests are looked at.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

const hostile = `</script><script>alert(1)</script>"><img src=x onerror=alert(2)>'{{.}}`

var executable = regexp.MustCompile(`(?i)<script>|<img src=x|(href|src)="\s*(javascript|data|vbscript):`)

// answer reads one of the documented answers that package wire writes.
func answer(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "wire", "testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func decodeInto[T any](t *testing.T, text []byte) (into T) {
	t.Helper()
	if err := json.Unmarshal(text, &into); err != nil {
		t.Fatal(err)
	}
	return into
}

// amountIn is an amount in JSON; nothing where there is none.
func amountIn(text string) chain.Amount { a, _ := chain.ParseAmount(text); return a }

func render(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var page bytes.Buffer
	if err := write(&page); err != nil {
		t.Fatal(err)
	}
	return page.String()
}

// text is a page without its tags, on one line.
func text(page string) string {
	return html.UnescapeString(strings.Join(strings.Fields(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, " ")), " "))
}
