package config

import "log/slog"

// Telemetry says how this gateway is looked at. Where traces go is said by the standard OTEL_* variables.
type Telemetry struct {
	Service string `yaml:"service"` // its name in traces and measurements
	// Admin is host:port for operators: a page at /, /metrics, /healthz, /readyz with every dependency, /debug/pprof. It is
	// not for the outside. Empty: there is none.
	Admin string `yaml:"admin"`
	// Token lets operators change something there: purge kept answers. Nobody may when it is empty.
	Token Secret     `yaml:"token"`
	Log   LogForm    `yaml:"log"`
	Level slog.Level `yaml:"level"` // least level of lines that are written
	// TrustTraceparent makes a request's span a child of the caller's: right behind a proxy of one's own,
	// wrong on the open internet, where callers could force every request to be sampled.
	TrustTraceparent bool `yaml:"trustTraceparent"`
	// Share of the requests that are traced, 0 to 1. A request that is not costs nothing here, and leaves a span of its
	// own all the same when it fails or takes 2.5 s. OTEL_TRACES_SAMPLER decides about those that are left.
	Share float64 `yaml:"share"`
}

// LogForm is how lines of the log are written.
type LogForm string

// The forms of a log.
const (
	LogText LogForm = "text"
	LogJSON LogForm = "json"
)

func defaultTelemetry() Telemetry {
	return Telemetry{Service: "crossgate", Admin: "127.0.0.1:9464", Log: LogText, Share: 1}
}

func (t Telemetry) check(at place) {
	if t.Service == "" {
		at.key("service").mistake("want the name of this service in traces")
	}
	if t.Admin != "" {
		checkListen(t.Admin, at.key("admin"))
	}
	if t.Log != LogText && t.Log != LogJSON {
		at.key("log").mistake("want text or json")
	}
	if !(t.Share >= 0 && t.Share <= 1) {
		at.key("share").mistake("want a share from 0 to 1")
	}
}
