package config

import (
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Endpoint is one URL of a service, with what it lets us ask.
type Endpoint struct {
	Name    string            `yaml:"name"` // in errors, logs and spans instead of the URL; made from its owner's name when absent
	URL     Secret            `yaml:"url"`
	Headers map[string]Secret `yaml:"headers"` // sent with every request: keys, for instance
	Timeout time.Duration     `yaml:"timeout"` // of one call; zero: the default of package upstream

	RequestsPerSecond float64        `yaml:"requestsPerSecond"` // or units, with costs; zero: unlimited
	Burst             int            `yaml:"burst"`
	Costs             map[string]int `yaml:"costs"` // units of JSON-RPC methods, * of any other; 1 where nothing is said
	// Monthly is how many requests, or units with costs, a month may take, by all gateways on one store; zero: unlimited
	Monthly int `yaml:"monthly"`
}

// Header returns the configured headers in the form that requests carry them.
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

// nameEndpoints names those that the file does not: after their owner, and numbered from the second on.
func (c Config) nameEndpoints() {
	for _, each := range c.Chains {
		nameEndpoints(each.Endpoints, fmt.Sprintf("chain-%d", each.ID))
	}
	for _, each := range c.Venues {
		nameEndpoints(each.Endpoints, each.Name)
	}
	if c.Prices.DefiLlama != nil {
		nameEndpoints(c.Prices.DefiLlama.Endpoints, "defillama")
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

// checkEndpoints wants at least one, and names that tell them apart.
func checkEndpoints(endpoints []Endpoint, at place) {
	if len(endpoints) == 0 {
		at.mistake("want at least one endpoint with a url")
	}
	first := make(map[string]int)
	for i, endpoint := range endpoints {
		endpoint.check(at.item(i))
		if earlier, taken := first[endpoint.Name]; taken {
			at.item(i).key("name").mistake("is the name of endpoints[%d] already", earlier)
			continue
		}
		first[endpoint.Name] = i
	}
}

func (e Endpoint) check(at place) {
	if e.Name == "" || strings.ContainsAny(e.Name, "/?& \t\n") {
		at.key("name").mistake("want a short name without spaces and slashes, since it stands for the URL in logs")
	}
	if parsed, err := url.Parse(e.URL.Reveal()); err != nil || parsed.Host == "" || (parsed.Scheme != "https" && parsed.Scheme != "http") {
		at.key("url").mistake("want an address that begins with https:// or http://")
	}
	for name, value := range e.Headers {
		if strings.ContainsAny(name+value.Reveal(), "\r\n\x00") || strings.ContainsAny(name, " :") || name == "" {
			at.key("headers").key(name).mistake("is no header that HTTP can carry")
		}
	}
	if e.Timeout < 0 {
		at.key("timeout").mistake("want a duration above zero")
	}
	if e.RequestsPerSecond < 0 || math.IsNaN(e.RequestsPerSecond) || math.IsInf(e.RequestsPerSecond, 0) {
		at.key("requestsPerSecond").mistake("want a number from 0 on; 0 means unlimited")
	}
	for method, units := range e.Costs {
		if units < 1 {
			at.key("costs").key(method).mistake("want a whole number above zero")
		}
	}
	if e.Monthly < 0 {
		at.key("monthly").mistake("want a whole number from 0 on; 0 means unlimited")
	}
	if e.Burst < 0 || e.Burst > 0 && e.RequestsPerSecond == 0 {
		at.key("burst").mistake("want a whole number above zero, together with requestsPerSecond")
	}
}
