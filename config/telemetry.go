package config

// Telemetry says who this gateway is in traces. Where traces go is said by the standard OTEL_* variables.
type Telemetry struct {
	Service string `yaml:"service"`
	// TrustTraceparent makes a request's span a child of the caller's: right behind a proxy of one's own,
	// wrong on the open internet, where callers could force every request to be sampled.
	TrustTraceparent bool `yaml:"trustTraceparent"`
}

func defaultTelemetry() Telemetry { return Telemetry{Service: "crossgate"} }

func (t Telemetry) check(at place) {
	if t.Service == "" {
		at.key("service").mistake("want the name of this service in traces")
	}
}
