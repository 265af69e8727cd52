package config_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"crossgate/config"
)

func TestSectionsAreRead(t *testing.T) {
	c, err := config.Parse([]byte(minimal + `
tls: {certFile: a.pem, keyFile: a.key, clientCAFile: ca.pem}
connections: {total: 0}
telemetry: {tls: {certFile: b.pem, keyFile: b.key}}
limits:
  loads: 10
  address: {units: 100, window: 10s}
  keys: [{name: wallet, key: 0123456789abcdef, quota: {units: 1000, window: 1m}}]
  proxies: [10.0.0.0/8, 192.0.2.1, "2001:db8::/32"]
`))
	if err != nil {
		t.Fatal(err)
	}
	if want := (config.Connections{Total: 0, PerAddress: 512}); c.Connections != want {
		t.Errorf("connections are read as %+v, want %+v", c.Connections, want)
	}
	if c.TLS != (config.TLS{CertFile: "a.pem", KeyFile: "a.key", ClientCAFile: "ca.pem"}) || c.Telemetry.TLS != (config.TLS{CertFile: "b.pem", KeyFile: "b.key"}) {
		t.Errorf("TLS is read as %+v and %+v", c.TLS, c.Telemetry.TLS)
	}
	if l := c.Limits; l.Loads != 10 || l.Address != (config.Quota{Units: 100, Window: 10 * time.Second}) || l.Keys[0].Quota.Units != 1000 || l.Proxies[1].String() != "192.0.2.1/32" {
		t.Errorf("limits are read as %+v", l)
	}
}

// TestMistakesOfSections has one section after another, with what is wrong with it; none quotes a value.
func TestMistakesOfSections(t *testing.T) {
	const recipient = `recipient: "0x3333333333333333333333333333333333333333"`
	for _, test := range []struct{ text, paths string }{
		{"listen: '127.0.0.1:8080'\ntelemetry: {admin: '127.0.0.1:8080'}", "telemetry.admin"},
		{"listen: ':8080'\ntelemetry: {admin: '127.0.0.1:8080'}", "telemetry.admin"},
		{"listen: '127.0.0.1:8080'\ntelemetry: {admin: '[::]:8080'}", "telemetry.admin"},
		{"listen: '127.0.0.1:8080'\ntelemetry: {admin: '127.0.0.2:8080'}", ""},
		{"listen: '127.0.0.1:8080'\ntelemetry: {admin: '127.0.0.1:9464'}", ""},
		{"listen: '127.0.0.1:0'\ntelemetry: {admin: '127.0.0.1:0'}", ""}, // a free port each
		{"listen: '127.0.0.1:8080'\ntelemetry: {admin: ''}", ""},
		{"cache: {shared: 'rediss://user:SECRET@127.0.0.1/0', sharedCAFile: ca.pem}", ""},
		{"cache: {shared: 'redis://user:SECRET@127.0.0.1/0', sharedCAFile: SECRET}", "cache.sharedCAFile"},
		{"cache: {sharedCAFile: SECRET}", "cache.sharedCAFile"},
		{"cache: {shared: 'https://user:SECRET@127.0.0.1'}", "cache.shared"},
		{"index: {postgres: 'postgres://crossgate:SECRET@127.0.0.1/orders'}", ""},
		{"index: {path: here.db, postgres: 'postgres://crossgate:SECRET@127.0.0.1/orders'}", "index.path"},
		{"index: {postgres: 'mysql://crossgate:SECRET@127.0.0.1/orders'}", "index.postgres"},
		{"index: {behind: 0s}", "index.behind"},
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
