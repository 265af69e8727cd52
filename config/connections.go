package config

import "time"

// Connections bounds what clients may keep open on the public listener.
type Connections struct {
	// Total of open connections, and of requests under way over HTTP/2. Beyond it the connection that has been idle
	// longest is closed for a new one; when none is idle, new ones get 503, as requests do. 0: no bound
	Total int `yaml:"total" range:"0..; 0 means no bound"`
	// PerAddress is how many of either one IPv4 address or IPv6 /64 network may have; beyond it the same, with 429.
	// Those of limits.proxies are not counted. 0: no bound
	PerAddress int `yaml:"perAddress" range:"0..; 0 means no bound"`
	// Idle is how long a connection may wait for its next request. Longer than the load balancer in front keeps one
	// open, so that it never sends a request on a connection that is being closed
	Idle time.Duration `yaml:"idle" range:"1s.."`
}

func defaultConnections() Connections {
	return Connections{Total: 16384, PerAddress: 512, Idle: 620 * time.Second}
}

// TLS secures a listener. Files that change are read again.
type TLS struct {
	// CertFile is a PEM file with the listener's certificate and those that lead to its authority; empty: no TLS
	CertFile string `yaml:"certFile"`
	KeyFile  string `yaml:"keyFile"` // PEM file with the private key of certFile
	// ClientCAFile is a PEM file with the authorities that clients' certificates must come from; empty: clients need
	// none
	ClientCAFile string `yaml:"clientCAFile"`
}

func (t TLS) check(at place) {
	at.key("certFile").mistakeIf((t.CertFile == "") != (t.KeyFile == ""),
		"want a certificate and its key together, or neither")
	at.key("clientCAFile").mistakeIf(t.ClientCAFile != "" && t.CertFile == "",
		"applies to TLS only: set certFile and keyFile as well")
}
