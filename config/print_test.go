package config_test

import (
	"bytes"
	"strings"
	"testing"

	"crossgate/config"
)

func TestPrintTellsWhatIsInForce(t *testing.T) {
	t.Setenv("CHAIN_KEY", canary)
	t.Setenv("PLACE", "127.0.0.1:9999")
	c, err := config.Parse([]byte(`
listen: ${PLACE}
drain: 0s
cache: {maxBytes: 64MiB}
chains:
  - id: 1
    endpoints: [{url: "https://example.com/${CHAIN_KEY}", headers: {X-Key: "${CHAIN_KEY}"}}]
venues: []
`))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := c.Print(&out); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for _, want := range []string{
		"listen: 127.0.0.1:9999\n", "drain: 0s\n", "maxBytes: 67108864\n", "  - id: 1\n", "url: '[redacted]'\n", "X-Key: '[redacted]'\n",
		"venues: []\n", "admin: 127.0.0.1:9464 # default\n", "behind: 1m # default\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, canary) || strings.Contains(text, "certFile") {
		t.Errorf("a secret is printed, or a key that says nothing:\n%s", text)
	}
}

// TestPrintedDefaultsAreAConfiguration reads what is printed of a file without secrets, and prints that again.
func TestPrintedDefaultsAreAConfiguration(t *testing.T) {
	first, err := config.Parse([]byte("listen: 127.0.0.1:0\nswap: {execution: direct}\nlimits: {proxies: [10.0.0.0/8]}\nchains: [{id: 1, family: evm, endpoints: [{url: \"https://example.com\"}]}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	var printed, again bytes.Buffer
	if err := first.Print(&printed); err != nil {
		t.Fatal(err)
	}
	second, err := config.Parse([]byte(strings.ReplaceAll(printed.String(), "'[redacted]'", "https://example.com")))
	if err != nil {
		t.Fatalf("%v in\n%s", err, printed.String())
	}
	if err := second.Print(&again); err != nil {
		t.Fatal(err)
	}
	if want := strings.ReplaceAll(printed.String(), " # default", ""); again.String() != want {
		t.Errorf("printed\n%s\nread, and printed again\n%s", want, again.String())
	}
}
