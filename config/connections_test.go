package config

import (
	"errors"
	"strings"
	"testing"
)

func TestConnections(t *testing.T) {
	c, err := Parse([]byte(`
chains: [{id: 1, endpoints: [{url: "http://127.0.0.1:8545"}]}]
tls: {certFile: a.pem, keyFile: a.key, clientCAFile: ca.pem}
connections: {total: 0}
telemetry: {tls: {certFile: b.pem, keyFile: b.key}}
`))
	if err != nil {
		t.Fatal(err)
	}
	if want := (Connections{0, 512}); c.Connections != want {
		t.Errorf("connections are read as %+v, want %+v", c.Connections, want)
	}
	if c.TLS != (TLS{"a.pem", "a.key", "ca.pem"}) || c.Telemetry.TLS != (TLS{"b.pem", "b.key", ""}) {
		t.Errorf("TLS is read as %+v and %+v", c.TLS, c.Telemetry.TLS)
	}
}

func TestMistakesInConnections(t *testing.T) {
	_, err := Parse([]byte(`
chains: [{id: 1, endpoints: [{url: "http://127.0.0.1:8545"}]}]
tls: {keyFile: a.key, clientCAFile: ca.pem}
connections: {total: -1, perAddress: -1}
telemetry: {tls: {certFile: b.pem}}
`))
	var mistakes Mistakes
	if !errors.As(err, &mistakes) {
		t.Fatalf("Parse = %v, want mistakes", err)
	}
	var paths []string
	for _, m := range mistakes {
		paths = append(paths, m.Path)
	}
	const want = "tls.certFile tls.clientCAFile connections.perAddress " +
		"connections.total telemetry.tls.certFile"
	if got := strings.Join(paths, " "); got != want {
		t.Errorf("mistakes at %s,\nwant %s", got, want)
	}
}
