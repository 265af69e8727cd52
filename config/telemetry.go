package config

import "log/slog"

// Telemetry configures logs, metrics and traces. The standard OTEL_* variables set the destination of traces.
type Telemetry struct {
	// Admin is host:port of the admin listener: a status page at /, /metrics, /healthz, /readyz with every dependency,
	// /debug/pprof. Keep it private. Empty: off.
	Admin string `yaml:"admin"`
	TLS   TLS    `yaml:"tls"` // of admin; default: none
	// Token is the bearer token for changes through the admin listener, such as purges. Empty: changes are refused.
	Token Secret     `yaml:"token"`
	Log   LogForm    `yaml:"log" oneof:"text json"` // the format of log lines
	Level slog.Level `yaml:"level"`                 // lowest level that is logged; cache hits are debug
	// Clients selects how much of a client's address request lines contain: address, network (24 bits of IPv4, 48 of
	// IPv6), or none, which also omits the User-Agent. An address, and in some countries its network, is personal
	// data: mention it in your privacy notice, and delete logs in time.
	Clients string `yaml:"clients" oneof:"address network none"`
	// Share is the share of requests, followers' polls and probes that are traced, 0 to 1. Others that fail or take
	// 2.5 s get a single span.
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
