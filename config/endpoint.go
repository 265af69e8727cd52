package config

import (
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"strings"
	"time"
)

// Endpoint is one URL of a service, with its rate limits.
type Endpoint struct {
	// Name is shown instead of the URL in errors, logs and spans; default: the name of its chain or venue, numbered
	Name    string            `yaml:"name"`
	URL     Secret            `yaml:"url"`
	Headers map[string]Secret `yaml:"headers"`              // sent with every request, for instance with an API key
	Timeout time.Duration     `yaml:"timeout" range:"0s.."` // of one call; default: 10s
	// WebSocket is where an EVM chain's endpoint tells of new heads (newHeads), so that it need not be asked for them;
	// headers are sent there too. Saves calls on chains with blocks slower than index.follow.asked
	WebSocket Secret `yaml:"websocket"`

	RequestsPerSecond float64        `yaml:"requestsPerSecond" range:"0..; 0 means unlimited"` // or units per second, with costs; 0: unlimited
	Burst             int            `yaml:"burst" range:"0.."`                                // requests that may be made at once before requestsPerSecond counts
	Costs             map[string]int `yaml:"costs" range:"1.."`                                // units per JSON-RPC method, * for all others; default: 1
	// Monthly is how many requests, or units with costs, all gateways on one database may spend in a month; 0:
	// unlimited
	Monthly int `yaml:"monthly" range:"0..; 0 means unlimited"`

	Limits EndpointLimits `yaml:"limits"` // of a chain's endpoint, where they are known
}

// EndpointLimits are what a JSON-RPC endpoint does not do. What is not here is found out and remembered.
type EndpointLimits struct {
	Span    int `yaml:"span" range:"0..; 0 means that it is found out"`    // blocks in one search of logs; 0: found out
	Results int `yaml:"results" range:"0..; 0 means that it is not known"` // logs in one answer; 0: not known
	Batch   int `yaml:"batch" range:"0..; 0 means that it is found out"`   // calls in one request; 0: found out
	// Rates are how many calls a second are taken of methods that are taken less often than others
	Rates map[string]float64 `yaml:"rates" range:">0"`
	// Logs is how many blocks before the newest one logs are kept for; 0: found out
	Logs   int `yaml:"logs" range:"0..; 0 means that it is found out"`
	Blocks int `yaml:"blocks" range:"0..; 0 means that it is found out"` // likewise blocks and receipts
	State  int `yaml:"state" range:"0..; 0 means that it is found out"`  // likewise the state of contracts; 128 is usual without an archive
	// Lacks are methods that are not answered, a method and a tag (eth_getBlockByNumber finalized), a method and a
	// field of its parameters (eth_getLogs topics, eth_getLogs addresses, eth_call overrides, eth_estimateGas
	// overrides), or a method and a part of its results (eth_getLogs times)
	Lacks []string `yaml:"lacks"`
}

func (l EndpointLimits) check(at place) {
	for i, method := range l.Lacks {
		at.key("lacks").item(i).mistakeIf(method == "", "want a JSON-RPC method, with a tag or a field after it where only that is not taken")
	}
}

// Header returns the configured headers.
func (e Endpoint) Header() http.Header {
	header := make(http.Header, len(e.Headers))
	for name, value := range e.Headers {
		header.Set(name, value.Reveal())
	}
	return header
}

// String returns the name: the URL may hold a key.
func (e Endpoint) String() string { return e.Name }

// LogValue logs the name alone.
func (e Endpoint) LogValue() slog.Value { return slog.StringValue(e.Name) }

// nameEndpoints names unnamed endpoints after their chain, venue or service, numbered from the second on.
func (c Config) nameEndpoints() {
	for owner, endpoints := range c.services() {
		nameEndpoints(endpoints, owner)
	}
}

// Endpoints returns those of all services.
func (c Config) Endpoints() (all []Endpoint) {
	for _, endpoints := range c.services() {
		all = append(all, endpoints...)
	}
	return all
}

// services yields whatever has endpoints: its name, and them.
func (c Config) services() iter.Seq2[string, []Endpoint] {
	return func(yield func(string, []Endpoint) bool) {
		isWanted := true
		tell := func(owner string, endpoints []Endpoint) { isWanted = isWanted && yield(owner, endpoints) }
		for _, each := range c.Chains {
			tell(fmt.Sprintf("chain-%d", each.ID), each.Endpoints)
		}
		for _, each := range c.Venues {
			tell(each.Name, each.Endpoints)
		}
		for _, each := range c.Tokens.Lists {
			tell(each.Name, each.Endpoints)
		}
		if c.Prices.DefiLlama != nil {
			tell("defillama", c.Prices.DefiLlama.Endpoints)
		}
		for _, each := range c.Passthrough.Hosts {
			tell("origin-"+each.Name, each.Endpoints)
		}
	}
}

func nameEndpoints(endpoints []Endpoint, owner string) {
	for i := range endpoints {
		switch {
		case endpoints[i].Name != "":
		case i == 0:
			endpoints[i].Name = owner
		default:
			endpoints[i].Name = fmt.Sprintf("%s-%d", owner, i+1)
		}
	}
}

// checkEndpoints requires at least one, with distinct names.
func checkEndpoints(endpoints []Endpoint, at place) {
	at.mistakeIf(len(endpoints) == 0, "want at least one endpoint with a url")
	first := make(map[string]int)
	for i, endpoint := range endpoints {
		endpoint.check(at.item(i))
		if earlier, taken := first[endpoint.Name]; taken {
			at.item(i).key("name").mistake("duplicate of the name of endpoints[%d]", earlier)
			continue
		}
		first[endpoint.Name] = i
	}
}

// refuseWebSockets reports endpoints that are to tell of heads and serve no EVM chain.
func refuseWebSockets(endpoints []Endpoint, at place) {
	for i, endpoint := range endpoints {
		at.item(i).key("websocket").mistakeIf(endpoint.WebSocket.Reveal() != "",
			"take it out: endpoints of EVM chains alone tell of heads by WebSocket")
	}
}

func (e Endpoint) check(at place) {
	at.key("name").mistakeIf(e.Name == "" || strings.ContainsAny(e.Name, "/?& \t\n"),
		"want a name without spaces, slashes, ? and &: it replaces the URL in logs")
	at.key("url").mistakeIf(!isWebAddress(e.URL.Reveal()),
		"want a URL that begins with https:// or http:// and has a host, other characters percent-encoded")
	at.key("websocket").mistakeIf(e.WebSocket.Reveal() != "" && !isAddress(e.WebSocket.Reveal(), "wss", "ws"),
		"want a URL that begins with wss:// or ws:// and has a host, other characters percent-encoded")
	for name, value := range e.Headers {
		shown, _, _ := strings.Cut(name, " ") // the rest may be a value
		at.key("headers").key(shown).mistakeIf(strings.ContainsAny(name+value.Reveal(), "\r\n\x00") || strings.Contains(name, " ") || name == "",
			"not a valid HTTP header")
	}
	e.Limits.check(at.key("limits"))
	at.key("burst").mistakeIf(e.Burst > 0 && e.RequestsPerSecond == 0, "want it together with requestsPerSecond, or not at all")
}
