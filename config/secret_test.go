package config_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"crossgate/config"
	"crossgate/internal/must"
)

const canary = "canary-4f1d2a"

func TestValuesComeFromTheEnvironment(t *testing.T) {
	t.Setenv("CHAIN_KEY", canary)
	t.Setenv("RATE", "2.5")
	c := must.Get(config.Parse([]byte(`
chains:
  - id: 1
    endpoints: [{url: "https://example.com/${CHAIN_KEY}/x", headers: {Authorization: "Bearer ${CHAIN_KEY}"}, requestsPerSecond: "${RATE}", burst: 5}]
`)))(t)
	endpoint := c.Chains[0].Endpoints[0]
	if got, want := endpoint.URL.Reveal(), "https://example.com/"+canary+"/x"; got != want {
		t.Errorf("URL = %q, want %q", got, want)
	}
	if got, want := endpoint.Header().Get("authorization"), "Bearer "+canary; got != want {
		t.Errorf("Authorization = %q, want %q", got, want)
	}
	if endpoint.RequestsPerSecond != 2.5 {
		t.Errorf("RequestsPerSecond = %v, want 2.5", endpoint.RequestsPerSecond)
	}
}

// TestReferenceThatIsNoneIsAMistake rejects shell syntax and slips of the hand, which would otherwise be sent as a key.
func TestReferenceThatIsNoneIsAMistake(t *testing.T) {
	for value, refused := range map[string]bool{
		"${CHAIN-KEY}": true, "${CHAIN_KEY": true, "${}": true, "${CHAIN_KEY:-none}": true, "${CHAIN_KEY}/${": true,
		"${CHAIN_KEY}": false, "pa$$word{1}": false, "$${CHAIN_KEY}{": false,
	} {
		t.Setenv("CHAIN_KEY", "canary")
		_, err := config.Parse([]byte(minimal + "venues: [{name: a, key: '" + value + "'}]\n"))
		const want = "venues[0].key: line 2: want ${NAME}: letters, digits and _ between braces, and no default"
		if got := err != nil && err.Error() == want; got != refused || err != nil && !refused {
			t.Errorf("%s: %v, want %q: %t", value, err, want, refused)
		}
	}
}

// TestNothingPrintsASecret tries every way in which a value could leave a program.
func TestNothingPrintsASecret(t *testing.T) {
	t.Setenv("CHAIN_KEY", canary)
	c := must.Get(config.Parse([]byte(`
chains: [{id: 1, endpoints: [{url: "https://${CHAIN_KEY}.example.com", websocket: "wss://example.com/${CHAIN_KEY}", headers: {X-Key: "${CHAIN_KEY}"}}]}]
venues: [{name: velora, key: "${CHAIN_KEY}", endpoints: [{url: "https://example.com?key=${CHAIN_KEY}"}]}]
`)))(t)
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&out, verb, c)
		fmt.Fprintf(&out, verb, c.Chains[0].Endpoints[0].URL)
		fmt.Fprintf(&out, verb, c.Chains[0].Endpoints[0].WebSocket)
		fmt.Fprintf(&out, verb, c.Venues)
	}
	slog.New(slog.NewJSONHandler(&out, nil)).Info("started", "config", c, "endpoint", c.Chains[0].Endpoints[0], "key", c.Venues[0].Key)
	slog.New(slog.NewTextHandler(&out, nil)).Info("started", "config", c, "endpoint", c.Chains[0].Endpoints[0], "key", c.Venues[0].Key)
	must.Do(t, json.NewEncoder(&out).Encode(c))
	must.Do(t, yaml.NewEncoder(&out).Encode(c))
	if strings.Contains(out.String(), canary) || strings.Contains(out.String(), fmt.Sprintf("%x", canary)) {
		t.Errorf("secret printed: %s", out.String())
	}
}

func TestMistakesNeverQuoteValues(t *testing.T) {
	t.Setenv("CHAIN_KEY", canary)
	_, err := config.Parse([]byte(`
listen: ${CHAIN_KEY}
index: ${CHAIN_KEY}
cache: {maxBytes: "${CHAIN_KEY}"}
drain: "${CHAIN_KEY}"
chains: [{id: "${CHAIN_KEY}", endpoints: [{name: "${CHAIN_KEY} x", url: "${CHAIN_KEY}", websocket: "${CHAIN_KEY}", burst: "${CHAIN_KEY}"}], contracts: {gate: "${CHAIN_KEY}"}}]
venues: [{name: "${CHAIN_KEY}", endpoints: "${CHAIN_KEY}"}]
tokens: {logo: "${CHAIN_KEY}", own: [{chain: 1, address: "${CHAIN_KEY}"}]}
prices: {feeds: "${CHAIN_KEY}"}
`))
	if err == nil || strings.Contains(err.Error(), canary) {
		t.Errorf("Parse = %v, want mistakes without %s", err, canary)
	}
}

// TestSlipsOfYAMLNeverQuoteValues uses values that YAML parses as something else.
func TestSlipsOfYAMLNeverQuoteValues(t *testing.T) {
	for slip, want := range map[string]string{
		`chains: [{id: 1, endpoints: [{url:https://example.com/` + canary + `}]}]`:                          "chains[0].endpoints[0].url: line 1: want a space after the colon",
		`chains: [{id: 1, endpoints: [{url:"https://example.com/` + canary + `"}]}]`:                        "chains[0].endpoints[0].url: line 1: want a space after the colon",
		`chains: [{id: 1, endpoints: [{url: "https://a.example", headers: {X-Key:` + canary + `}}]}]`:       "chains[0].endpoints[0].headers.X-Key: line 1: want a space after the colon",
		`chains: [{id: 1, endpoints: [{url: "https://a.example", headers: {"X-Key ` + canary + `": ""}}]}]`: "chains[0].endpoints[0].headers.X-Key: line 1: not a valid HTTP header",
		`telemetry: {token: *` + canary + `}`:                                                               "yaml: unknown anchor referenced: put a value that begins with * in quotes",
		"listen: a\n---\nlisten: *" + canary:                                                                "yaml: unknown anchor referenced: put a value that begins with * in quotes",
	} {
		_, err := config.Parse([]byte(slip))
		if err == nil || strings.Contains(err.Error(), canary) || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%s) = %v, want %s", slip, err, want)
		}
	}
}

func TestSecretsComeFromFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	must.Do(t, os.WriteFile(file, []byte("  s3cret\n"), 0o600))
	t.Setenv("NODE_TOKEN_FILE", file)
	t.Setenv("OTHER_TOKEN_FILE", file+".absent")
	c, err := config.Parse([]byte(minimal + "venues: [{name: a, key: '${NODE_TOKEN}'}, {name: b, key: '${OTHER_TOKEN}'}]\n"))
	if got := c.Venues[0].Key.Reveal(); got != "s3cret" {
		t.Errorf("key = %q, want the file's text", got)
	}
	if err == nil || !strings.Contains(err.Error(), "venues[1].key: line 2: environment variable not set: OTHER_TOKEN (cannot read the file in OTHER_TOKEN_FILE)") {
		t.Errorf("Parse = %v, want the absent file's variable named", err)
	}
}

func TestRevisionFollowsTextAndSecrets(t *testing.T) {
	text := []byte(minimal + "venues: [{name: a, key: '${NODE_TOKEN}'}]\n")
	revision := func(key string, text []byte) string {
		t.Setenv("NODE_TOKEN", key)
		c := must.Get(config.Parse(text))(t)
		return c.Revision()
	}
	one := revision("a", text)
	if one == "" || one != revision("a", text) || one == revision("b", text) || one == revision("a", append(text, '\n')) {
		t.Errorf("revision %q is not that of this text with this secret alone", one)
	}
}
