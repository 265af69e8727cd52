package config

import "log/slog"

// Telemetry configures logs, metrics and traces. Where traces are sent is set by the standard OTEL_* variables.
type Telemetry struct {
	// Admin is host:port of the admin listener: a status page at /, /metrics, /healthz, /readyz with every dependency,
	// /debug/pprof. Keep it private. Empty: off.
	Admin string `yaml:"admin"`
	TLS   TLS    `yaml:"tls"` // of admin; default: none
	// Token is the bearer token for changes through the admin listener, such as purges. Empty: changes are refused.
	Token Secret     `yaml:"token"`
	Log   LogForm    `yaml:"log" oneof:"text json"` // the format of log lines
	Level slog.Level `yaml:"level"`                 // lowest level that is logged; hits of the cache have debug
	// Clients is how much of a client's address the lines of requests have: address, network (of IPv4 24 bits, of IPv6
	// 48), or none, then without its User-Agent. An address, and in some countries its network, is personal data: say
	// so in your privacy notice, and delete logs in time.
	Clients string `yaml:"clients" oneof:"address network none"`
	// Share of the requests that are traced, and of what followers and probes do, 0 to 1. Others that fail
	// or take 2.5 s have a span of their own.
	Share float64 `yaml:"share" range:"0..1"`
}

// LogForm is the format of log lines.
type LogForm string

// The formats of log lines.
const (
	LogText LogForm = "text"
	LogJSON LogForm = "json"
)

func (t Telemetry) check(at place) {
	if t.Admin != "" {
		checkListen(t.Admin, at.key("admin"))
	}
	t.TLS.check(at.key("tls"))
}
