package config_test

import (
	"errors"
	"strings"
	"testing"

	"crossgate/config"
	"crossgate/internal/golden"
)

func TestEveryMistakeIsReportedAtOnce(t *testing.T) {
	_, err := config.Parse([]byte(`listen: somewhere
index: {path: "", lookback: -1}
cache: {maxBytes: lots, colour: red}
swap:
  execution: fast
  fee: {bps: 3}
chains:
  - id: 1
    endpoints:
      - {name: one, url: "ftp://example.com"}
      - {name: one, url: "https://example.com", timeout: -1s, burst: 3}
      - {name: "https://k.example", url: "https://example.com", requestsPerSecond: NaN}
  - id: 1
    family: tron
    endpoints: []
  - id: 424242
    family: evm
    endpoints: [{url: "https://example.com"}]
    contracts: {dlnSource: "src5qyZHqTqecJV4aY6Cb6zDZLMDzrDKKezs22MPHr4", gate: nonsense}
venues:
  - endpoints: {url: "https://example.com"}
  - name: velora
  - name: velora
    endpoints: [{url: "https://example.com", headers: {"a b": c}}]
prices: {coingecko: {}, feeds: perhaps}
tokens:
  refresh: 1s
  own:
    - {chain: 5, address: "0x0000000000000000000000000000000000000000", symbol: X, decimals: 78}
    - {chain: 1, address: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", decimals: 300}
  lists:
    - {name: "a b", endpoints: [{name: a, url: "https://lists.example"}]}
    - {name: uniswap}
    - {name: uniswap, endpoints: [{url: "https://lists.example"}]}
telemetry: {admin: "", admin: b}
`))
	want := `40 mistakes
  listen: line 1: want host:port, for instance 127.0.0.1:8080
  index.lookback: line 2: want a whole number, at least 0
  index.path: line 2: want the path of the database file
  cache.colour: line 3: unknown key; known keys: maxBytes, shared, sharedCAFile
  cache.maxBytes: line 3: want a size such as 64MiB or 1GiB
  swap.execution: line 5: want router, direct or best
  swap.fee.recipient: line 6: required with bps: the address that receives the fee
  chains[0].endpoints[0].url: line 10: want a URL that begins with https:// or http:// and has a host, other characters percent-encoded
  chains[0].endpoints[1].burst: line 11: want it together with requestsPerSecond, or not at all
  chains[0].endpoints[1].name: line 11: duplicate of the name of endpoints[0]
  chains[0].endpoints[1].timeout: line 11: want a duration, at least 0s
  chains[0].endpoints[2].name: line 12: want a name without spaces, slashes, ? and &: it replaces the URL in logs
  chains[0].endpoints[2].requestsPerSecond: line 12: want a number, at least 0: 0 means unlimited
  chains[1].id: line 13: duplicate of chains[0]
  chains[1].family: line 14: this chain is of family evm
  chains[1].endpoints: line 15: want at least one endpoint with a url
  chains[2].blockTime: line 16: required: chain 424242 is not documented
  chains[2].coin.decimals: line 16: required: chain 424242 is not documented
  chains[2].coin.symbol: line 16: required: chain 424242 is not documented
  chains[2].finality: line 16: required: chain 424242 is not documented
  chains[2].name: line 16: required: chain 424242 is not documented
  chains[2].native: line 16: required: chain 424242 is not documented
  chains[2].contracts.dlnDestination: line 19: required: chain 424242 is not documented
  chains[2].contracts.dlnSource: line 19: not an address of family evm
  chains[2].contracts.gate: line 19: want an address: 0x and 40 hex digits, or base58 on Solana and TRON
  venues[0].endpoints: line 21: want a list
  venues[0].name: line 21: want the name of a venue; docs/venues.md lists them
  venues[2].name: line 23: duplicate of venues[1]
  venues[2].endpoints[0].headers.a: line 24: not a valid HTTP header
  prices.coingecko: line 25: unknown key; known keys: defillama, feeds
  prices.feeds: line 25: want true or false
  tokens.refresh: line 27: unknown key; known keys: lists, own
  tokens.own[0].chain: line 29: want the id of a documented chain or of one under chains
  tokens.own[0].decimals: line 29: want a whole number, at most 77: 10^77 is the largest that fits into 256 bits
  tokens.own[1].decimals: line 30: want a whole number, at least 0
  tokens.own[1].symbol: line 30: want the token's symbol
  tokens.lists[0].name: line 32: want a name without spaces, slashes, ? and &
  tokens.lists[1].endpoints: line 33: want at least one endpoint with a url
  tokens.lists[2].name: line 34: duplicate of lists[1]
  telemetry.admin: line 35: duplicate key, first in line 35
`
	if err == nil {
		t.Fatal("Parse found no mistake")
	}
	golden.Same(t, "mistakes", strings.Split(want, "\n"), strings.Split(err.Error()+"\n", "\n"))
}

func TestTextThatIsNoConfiguration(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", "chains: want at least one chain"},
		{"just text", "2 mistakes\n  line 1: want a mapping"},
		{"chains: [{id: x, endpoints: [{url: 'https://a.example'}]}]", "chains[0].id: line 1: want a chain id as used by the API"},
		{minimal + "---\nlisten: ':1'\n", "line 2: unexpected second YAML document"},
		{minimal + "listen: ':1'\nlisten: ':2'\n", "listen: line 3: duplicate key, first in line 2"},
		{"chains:\n\t- id: 1\n", "yaml: line 2: found character that cannot start any token: indent by spaces"},
		{"listen: @x\n", "yaml: found character that cannot start any token: indent by spaces"},
		{minimal + "listen: ${CROSSGATE_TEST_HOST}:${CROSSGATE_TEST_PORT}\n", "listen: line 2: environment variable not set: CROSSGATE_TEST_HOST, CROSSGATE_TEST_PORT"},
		{"chains: [{id: 1, endpoints: [{url: https://a.example/${KEY}}]}]", "yaml: did not find expected ',' or '}': within {…} and […], put"},
		{"chains: [{id: 1, endpoints: [{url: 'https://a.example/key '}]}]", "chains[0].endpoints[0].url: line 1: want a URL"},
		{"chains: [{id: 146, endpoints: [{url: 'https://a.example'}]}]", "chains[0].id: line 1: this is the EIP-155 id of Sonic: want 100000014,"},
		{"chains: [", "yaml: line 1: did not find expected node content"},
	} {
		_, err := config.Parse([]byte(test.text))
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("Parse(%q) = %v, want %q alone", test.text, err, test.want)
		}
	}
}

func TestEndpointsOfEVMChainsAloneAnnounceHeads(t *testing.T) {
	c, err := config.Parse([]byte(`chains: [{id: 1, endpoints: [{url: "https://example.com", websocket: "wss://example.com/key"}]}]`))
	if err != nil || c.Chains[0].Endpoints[0].WebSocket.Reveal() != "wss://example.com/key" {
		t.Errorf("Parse = %v, want the address of the WebSocket", err)
	}
	_, err = config.Parse([]byte(`
chains:
  - {id: 1, endpoints: [{url: "https://example.com", websocket: "https://example.com"}]}
  - {id: 7565164, endpoints: [{url: "https://example.com", websocket: "wss://example.com"}]}
venues: [{name: velora, endpoints: [{url: "https://example.com", websocket: "wss://example.com"}]}]
prices: {defillama: [{url: "https://example.com", websocket: "wss://example.com"}]}
tokens: {lists: [{name: a, endpoints: [{url: "https://example.com", websocket: "wss://example.com"}]}]}
passthrough: {hosts: [{name: a, endpoints: [{url: "https://example.com", websocket: "wss://example.com"}]}]}
`))
	const take = ": take it out: heads are announced by WebSocket on EVM chains only"
	want := `6 mistakes
  chains[0].endpoints[0].websocket: line 3: want a URL that begins with wss:// or ws:// and has a host, other characters percent-encoded
  chains[1].endpoints[0].websocket: line 4` + take + `
  venues[0].endpoints[0].websocket: line 5` + take + `
  prices.defillama[0].websocket: line 6` + take + `
  tokens.lists[0].endpoints[0].websocket: line 7` + take + `
  passthrough.hosts[0].endpoints[0].websocket: line 8` + take
	if err == nil || err.Error() != want {
		t.Errorf("Parse = %v\nwant %s", err, want)
	}
}

// TestMistakesOfSections parses one section after another with mistakes; no error quotes a value.
func TestMistakesOfSections(t *testing.T) {
	const recipient = `recipient: "0x3333333333333333333333333333333333333333"`
	for _, test := range []struct{ text, paths string }{
		{"listen: ':a'", "listen"},
		{"events: {webhooks: [{name: a, url: 'https://SECRET.example', secrets: [SECRET]}, {name: a, url: SECRET}]}", "events.webhooks[1].name events.webhooks[1].secrets events.webhooks[1].url"},
		{"listen: '127.0.0.1:8080'\ntelemetry: {admin: '127.0.0.1:8080'}", "telemetry.admin"},
		{"listen: ':8080'\ntelemetry: {admin: '127.0.0.1:8080'}", "telemetry.admin"},
		{"listen: '127.0.0.1:8080'\ntelemetry: {admin: '[::]:8080'}", "telemetry.admin"},
		{"listen: '127.0.0.1:8080'\ntelemetry: {admin: '127.0.0.2:8080'}", ""},
		{"listen: '127.0.0.1:8080'\ntelemetry: {admin: '127.0.0.1:9464'}", ""},
		{"listen: '127.0.0.1:0'\ntelemetry: {admin: '127.0.0.1:0'}", ""}, // each uses a free port
		{"listen: '127.0.0.1:8080'\ntelemetry: {admin: ''}", ""},
		{"cache: {shared: 'rediss://user:SECRET@127.0.0.1/0', sharedCAFile: ca.pem}", ""},
		{"cache: {shared: 'redis://user:SECRET@127.0.0.1/0', sharedCAFile: SECRET}", "cache.sharedCAFile"},
		{"cache: {sharedCAFile: SECRET}", "cache.sharedCAFile"},
		{"cache: {shared: 'https://user:SECRET@127.0.0.1'}", "cache.shared"},
		{"index: {postgres: 'postgres://crossgate:SECRET@127.0.0.1/orders'}", ""},
		{"index: {path: here.db, postgres: 'postgres://crossgate:SECRET@127.0.0.1/orders'}", "index.path"},
		{"index: {postgres: 'mysql://crossgate:SECRET@127.0.0.1/orders'}", "index.postgres"},
		{"index: {behind: 0s}", "index.behind"},
		{"passthrough: {hosts: [{name: a, endpoints: [{url: 'https://a.example'}]}, {name: b, endpoints: [{url: 'https://b.example'}]}]}", "passthrough.hosts[1].hosts"},
		{"passthrough: {hosts: [{name: a, endpoints: [{url: 'https://a.example'}], paths: {x: cache, /y: keep}}]}", "passthrough.hosts[0].paths./y passthrough.hosts[0].paths.x"},
		{"passthrough: {hosts: [{name: a, endpoints: [{url: 'https://a.example'}], paths: {'/a:b': pass, /c:SECRET: pass}}]}", "passthrough.hosts[0].paths./c"},
		{"venues: [{name: velora, endpoints: [{url: 'https://a.example', headers: {'X:SECRET': a, X(Y: a, X-Z: \"a\\x01\"}}]}]", "venues[0].endpoints[0].headers.X venues[0].endpoints[0].headers.X(Y venues[0].endpoints[0].headers.X-Z"},
		{"passthrough: {shadow: {share: 1}}", "passthrough.shadow.paths"},
		{"passthrough: {shadow: {share: 1, paths: {/: nowhere}}}", "passthrough.shadow.paths./"},
		{"swap: {fee: {bps: 1001, " + recipient + "}}", "swap.fee.bps"},
		{"swap: {fee: {bps: -1, " + recipient + "}}", "swap.fee.bps"},
		{"swap: {fee: {bps: 0.5, " + recipient + "}}", "swap.fee.bps"},
		{"swap: {fee: {bps: 20}}", "swap.fee.recipient"},
		{`swap: {fee: {bps: 20, recipient: "0x0000000000000000000000000000000000000000"}}`, "swap.fee.recipient"},
		{"swap: {fee: {bps: 20, recipient: 29d2S7vB453rNYFdR5Ycwt7y9haRT5fwVwL9zTmBhfV2}}", "swap.fee.recipient"},
		{"swap: {fee: {" + recipient + "}}", "swap.fee.bps"},
		{"swap: {fee: {percent: 0.2, bps: 1, " + recipient + "}}", "swap.fee.percent"},
		{"tls: {keyFile: a.key, clientCAFile: ca.pem}", "tls.certFile tls.clientCAFile"},
		{"telemetry: {tls: {certFile: b.pem}}", "telemetry.tls.certFile"},
		{"connections: {total: -1, perAddress: -1}", "connections.perAddress connections.total"},
		{"limits: {loads: -1, address: {units: 5, window: 10ms}, proxies: [10.0.0.0/99, SECRET]}", "limits.address.units limits.address.window limits.loads limits.proxies[0] limits.proxies[1]"},
		{
			`limits: {keys: [{name: "a b", key: SECRET6789abcdef, quota: {units: 1000, window: 1m}}, ` +
				`{name: address, key: short, quota: {units: 1000, window: 1m}}, {name: other, key: SECRET6789abcdef}]}`,
			"limits.keys[0].name limits.keys[1].key limits.keys[1].name limits.keys[2].key limits.keys[2].quota",
		},
	} {
		_, err := config.Parse([]byte(minimal + test.text + "\n"))
		var mistakes config.Mistakes
		if err != nil && !errors.As(err, &mistakes) {
			t.Fatal(err)
		}
		var paths []string
		for _, m := range mistakes {
			paths = append(paths, m.Path)
		}
		if got := strings.Join(paths, " "); got != test.paths || err != nil && strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v, want mistakes at %q that quote nothing", test.text, err, test.paths)
		}
	}
}
