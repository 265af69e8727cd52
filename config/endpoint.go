package config

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
)

// Endpoint is one URL of a service, with its rate limits.
type Endpoint struct {
	// Name is shown instead of the URL in errors, logs and spans; default: the name of its chain or venue, numbered
	Name    string            `yaml:"name"`
	URL     Secret            `yaml:"url"`
	Headers map[string]Secret `yaml:"headers"`              // sent with every request, for instance with an API key
	Timeout time.Duration     `yaml:"timeout" range:"0s.."` // of one call; default: 10s
	// WebSocket is the URL at which an EVM chain's endpoint announces new heads (newHeads), which replaces polling;
	// it gets the headers too. Saves calls if blocks take longer than two seconds
	WebSocket Secret `yaml:"websocket"`

	RequestsPerSecond float64        `yaml:"requestsPerSecond" range:"0..; 0 means unlimited"` // or units per second, with costs; 0: unlimited
	Burst             int            `yaml:"burst" range:"0.."`                                // requests allowed at once before requestsPerSecond applies
	Costs             map[string]int `yaml:"costs" range:"1.."`                                // units per JSON-RPC method, * for all others; default: 1
	// Monthly is the number of requests, or of units with costs, that all gateways on one database may spend in a
	// month; 0: unlimited
	Monthly int `yaml:"monthly" range:"0..; 0 means unlimited"`
	// Price is the price in USD of a million requests, or of units with costs, for projections of doctor and the
	// status page; 0: unknown
	Price float64 `yaml:"price" range:"0.."`
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

// LogValue returns the name only: the URL may hold a key.
func (e Endpoint) LogValue() slog.Value { return slog.StringValue(e.Name) }

// nameEndpoints names unnamed endpoints after their chain, venue or service, numbered from the second on.
func (c Config) nameEndpoints() {
	for _, each := range c.Chains {
		nameEndpoints(each.Endpoints, fmt.Sprintf("chain-%d", each.ID))
	}
	for _, each := range c.Venues {
		nameEndpoints(each.Endpoints, each.Name)
	}
	for _, each := range c.Tokens.Lists {
		nameEndpoints(each.Endpoints, each.Name)
	}
	nameEndpoints(c.Prices.DefiLlama, "defillama")
	for _, each := range c.Passthrough.Hosts {
		nameEndpoints(each.Endpoints, "origin-"+each.Name)
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

func checkEndpoints(endpoints []Endpoint, at place) {
	at.mistakeIf(len(endpoints) == 0, "want at least one endpoint with a url")
	for i, endpoint := range endpoints {
		endpoint.check(at.item(i))
	}
	checkUnique(endpoints, Endpoint.String, "the name of endpoints", func(i int) place { return at.item(i).key("name") })
}

// checkService checks the endpoints of anything but a chain.
func checkService(endpoints []Endpoint, at place) {
	checkEndpoints(endpoints, at)
	refuseWebSockets(endpoints, at)
}

// refuseWebSockets reports endpoints with a WebSocket: only EVM chains use one.
func refuseWebSockets(endpoints []Endpoint, at place) {
	for i, endpoint := range endpoints {
		at.item(i).key("websocket").mistakeIf(endpoint.WebSocket.Reveal() != "",
			"take it out: heads are announced by WebSocket on EVM chains only")
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
		at.key("headers").key(shown).mistakeIf(!httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value.Reveal()),
			"not a valid HTTP header")
	}
	at.key("burst").mistakeIf(e.Burst > 0 && e.RequestsPerSecond == 0, "want it together with requestsPerSecond, or not at all")
}
