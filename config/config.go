// Package config reads the gateway's configuration, one YAML file. Load decodes it into a Config, on top of the
// defaults, and then runs each section's check. It reports all mistakes together, each with its path and line but
// without the value, which may be a key.
//
// Values may refer to environment variables (${NAME}) or to files (NAME_FILE). The comments on the fields are the text
// of docs/configuration.md and schema.json: go test ./config -update writes both. Package gateway checks rules that
// only its parts know, such as which venues exist, and reports violations through Config.Mistake.
package config

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"crossgate/chain"
)

// Config is the whole file. Omitted keys have their defaults; chains, venues and price sources that the file does not
// list are off.
type Config struct {
	Listen string `yaml:"listen"` // host:port that serves clients
	TLS    TLS    `yaml:"tls"`    // of listen, with HTTP/2 beside HTTP/1.1; default: none
	// Drain is how long the gateway still serves after /readyz has turned to 503, so that load balancers can notice.
	Drain time.Duration `yaml:"drain" range:"0s.."`

	// MCP offers read-only paths and unsigned transactions to agents, at /mcp, by the Model Context Protocol
	MCP bool `yaml:"mcp"`

	Connections Connections `yaml:"connections"`

	Index     Index     `yaml:"index"`
	Events    Events    `yaml:"events"`
	Cache     Cache     `yaml:"cache"`
	Limits    Limits    `yaml:"limits"`
	Swap      Swap      `yaml:"swap"`
	Chains    []Chain   `yaml:"chains"`
	Venues    []Venue   `yaml:"venues"`
	Prices    Prices    `yaml:"prices"`
	Tokens    Tokens    `yaml:"tokens"`
	Telemetry Telemetry `yaml:"telemetry"`

	Passthrough Passthrough `yaml:"passthrough"`

	lines    map[string]int // of every path in the file
	revision string
}

// Revision identifies the content, and reveals nothing of the secrets: the same text with the same ones has the same
// one. Empty for a configuration that was not read.
func (c Config) Revision() string { return c.revision }

//go:embed default.yaml
var embedded []byte

//go:embed schema.json
var schema []byte

// Schema returns the JSON schema of a configuration (json-schema.org, draft 2020-12), for completion and validation in
// editors. A test keeps it equal to the types.
func Schema() []byte { return schema }

// Default returns the configuration of a gateway without a file: the documented chains through public endpoints, and
// the venues that need no key.
func Default() Config {
	c, err := Parse(embedded)
	if err != nil {
		panic("config: embedded default.yaml: " + err.Error())
	}
	return c
}

// Load reads and validates a file. It returns an invalid file's Mistakes with the Config as far as it was decoded.
func Load(path string) (Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Config{}, fmt.Errorf("read configuration: %w", err)
	}
	c, err := Parse(text)
	if err != nil {
		return c, fmt.Errorf("configuration %s: %w", path, err)
	}
	return c, nil
}

// Parse reads and validates the text of a file. It replaces ${NAME} in a value by the environment variable of that name
// or, if that is not set, by the content of the file that NAME_FILE names. It returns all mistakes, in the order of the
// file, as Mistakes.
func Parse(text []byte) (Config, error) {
	c := base()
	r := &report{lines: make(map[string]int)}
	r.reads.Write(text)
	document, err := parseDocument(text)
	if err == nil && len(document.Content) > 0 {
		decode(document.Content[0], reflect.ValueOf(&c).Elem(), place{in: r})
	}
	read := sha256.Sum256(r.reads.Bytes())
	c.lines, c.revision = r.lines, hex.EncodeToString(read[:6]) // short enough to compare by eye
	if err != nil {
		return c, Mistakes{{Message: err.Error()}}
	}
	c.nameEndpoints()
	c.check(place{in: r})
	if len(r.mistakes) == 0 {
		return c, nil
	}
	r.mistakes.sort()
	return c, r.mistakes
}

// parseDocument parses the YAML of a file and rejects a second document.
func parseDocument(text []byte) (yaml.Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document, second yaml.Node
	if err := decoder.Decode(&document); err != nil && !errors.Is(err, io.EOF) {
		return yaml.Node{}, clarified(err)
	}
	switch err := decoder.Decode(&second); {
	case errors.Is(err, io.EOF):
		return document, nil
	case err != nil:
		return yaml.Node{}, clarified(err)
	}
	return yaml.Node{}, fmt.Errorf("line %d: unexpected second YAML document: put everything into one", second.Line)
}

// anchor matches the anchor name that YAML errors quote. It may be a secret value that begins with *.
var anchor = regexp.MustCompile(`anchor '.*'`)

// clarified removes quoted text from a YAML error and adds the remedy for common mistakes.
func clarified(err error) error {
	text := err.Error()
	if without := anchor.ReplaceAllString(text, "anchor"); without != text {
		return errors.New(without + ": put a value that begins with * in quotes")
	}
	if strings.HasSuffix(text, "cannot start any token") {
		return fmt.Errorf("%w: indent by spaces, not by tabs, and put a value that begins with @, ` or %% in quotes", err)
	}
	if strings.Contains(text, "did not find expected ','") {
		return fmt.Errorf("%w: within {…} and […], put values such as ${NAME} in quotes", err)
	}
	return err
}

func base() Config {
	return Config{
		Listen:      "127.0.0.1:8080",
		Index:       Index{Path: defaultIndexPath, Lookback: 50_000, Behind: time.Minute, Asked: 1900 * time.Millisecond, Connections: 8},
		Cache:       Cache{MaxBytes: 256 << 20},
		Limits:      Limits{Loads: 1024},
		Connections: Connections{Total: 16384, PerAddress: 512},
		Swap: Swap{
			Execution: ExecuteByRouter, Unsimulated: RefuseUnsimulated, TakerCosts: 100,
			Window: 2500 * time.Millisecond, Deadline: 6 * time.Second,
		},
		Tokens:      Tokens{Refresh: 6 * time.Hour},
		Telemetry:   Telemetry{Admin: "127.0.0.1:9464", Log: LogText, Clients: "network", Share: 1},
		Passthrough: Passthrough{MaxBytes: 64 << 20},
	}
}

// Mistake returns a mistake at a path, such as venues[2].name, with that path's line in the file.
func (c Config) Mistake(path, message string) Mistake {
	r := report{lines: c.lines}
	return Mistake{Path: path, Line: r.line(path), Message: message}
}

func (c Config) check(at place) {
	checkBounds(reflect.ValueOf(c), at)
	checkListen(c.Listen, at.key("listen"))
	c.TLS.check(at.key("tls"))
	c.Index.check(at.key("index"))
	c.Events.check(at.key("events"))
	c.Cache.check(at.key("cache"))
	c.Limits.check(at.key("limits"))
	c.Swap.Fee.check(chain.EVM, at.key("swap").key("fee"))
	checkChains(c.Chains, at.key("chains"))
	checkVenues(c.Venues, at.key("venues"))
	if c.Prices.DefiLlama != nil {
		checkService(c.Prices.DefiLlama, at.key("prices").key("defillama"))
	}
	c.Tokens.check(c.Registry(), at.key("tokens"))
	c.Telemetry.check(at.key("telemetry"))
	at.key("telemetry").key("admin").mistakeIf(clash(c.Listen, c.Telemetry.Admin), "want another port than that of listen")
	c.Passthrough.check(at.key("passthrough"))
}

// CheckListen reports whether a listener's address is valid: host:port, where an empty host means every interface.
func CheckListen(address string) error {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return errors.New("want host:port, for instance 127.0.0.1:8080")
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return errors.New("want a port from 0 to 65535 after the colon")
	}
	return nil
}

func checkListen(address string, at place) {
	if err := CheckListen(address); err != nil {
		at.mistake("%s", err)
	}
}

// clash reports whether two listeners cannot both listen, because they share a port. Port 0 means any free port.
func clash(a, b string) bool {
	host, port, err := net.SplitHostPort(a)
	other, otherPort, otherErr := net.SplitHostPort(b)
	return err == nil && otherErr == nil && port == otherPort && port != "0" &&
		(host == other || isEveryInterface(host) || isEveryInterface(other))
}

func isEveryInterface(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "" || err == nil && ip.IsUnspecified()
}
