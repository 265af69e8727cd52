package gateway

import (
	"log/slog"
	"reflect"
	"slices"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"crossgate/config"
	"crossgate/upstream"
)

// endpoint is an endpoint with what it was made of. Sets that configure it alike share it, with its breaker, its
// budget and all that was measured, and the last of them closes it.
type endpoint struct {
	*upstream.Endpoint
	of         string // whom it serves: a chain by its id, a venue or a price service by its name
	config     config.Endpoint
	longestBan time.Duration
	holders    atomic.Int64 // sets
}

// endpoint returns the endpoint that each describes: that of the configuration before when nothing about it has
// changed, else a new one, which heeds what operators wanted of the one of that name before.
func (b *builder) endpoint(of string, each config.Endpoint, attributes ...attribute.KeyValue) (*endpoint, error) {
	longest := b.config.Health.LongestBan
	before := b.before.endpoint(of, each.Name)
	if before != nil && before.longestBan == longest && reflect.DeepEqual(before.config, each) {
		before.holders.Add(1)
		return before, nil
	}
	made, err := newEndpoint(of, each, longest, b.log, attributes...)
	if err != nil {
		return nil, err
	}
	if before != nil {
		made.Replace(before.Endpoint)
	}
	e := &endpoint{Endpoint: made, of: of, config: each, longestBan: longest}
	e.holders.Store(1)
	return e, nil
}

// newEndpoint makes an endpoint; of is whom it serves.
func newEndpoint(
	of string, c config.Endpoint, longestBan time.Duration, log *slog.Logger, attributes ...attribute.KeyValue,
) (*upstream.Endpoint, error) {
	o := endpointOptions(c)
	o.LongestQuarantine, o.Attributes, o.Logger, o.Forwards = longestBan, attributes, log, isOrigin(of)
	return upstream.NewEndpoint(o)
}

// endpointOptions are what a configuration says of an endpoint.
func endpointOptions(c config.Endpoint) upstream.EndpointOptions {
	return upstream.EndpointOptions{
		Name: c.Name, URL: c.URL.Reveal(), PublicHost: publicHost(c.URL), Header: c.Header(), Timeout: c.Timeout,
		RequestsPerSecond: c.RequestsPerSecond, Burst: c.Burst, Units: c.Costs["*"], Monthly: c.Monthly,
	}
}

// endpoint returns the one of that name which serves of; nil when there is none.
func (p *parts) endpoint(of, name string) *endpoint {
	if p == nil {
		return nil
	}
	i := slices.IndexFunc(p.endpoints, func(e *endpoint) bool { return e.of == of && e.Name() == name })
	if i < 0 {
		return nil
	}
	return p.endpoints[i]
}

// servedBy is whom the endpoints of a pool serve; empty when it has none.
func (p *parts) servedBy(pool *upstream.Pool) string {
	for _, each := range pool.Endpoints() {
		if i := slices.IndexFunc(p.endpoints, func(e *endpoint) bool { return e.Endpoint == each }); i >= 0 {
			return p.endpoints[i].of
		}
	}
	return ""
}

// called are the endpoints as those see them who ask.
func (p *parts) called() []*upstream.Endpoint {
	called := make([]*upstream.Endpoint, len(p.endpoints))
	for i, e := range p.endpoints {
		called[i] = e.Endpoint
	}
	return called
}

// close waits for what is being stored, lets go of the endpoints and closes those that nobody else holds.
func (p *parts) close() {
	if p.tokens != nil { // not yet where building failed
		p.tokens.Close()
	}
	for _, e := range p.endpoints {
		if e.holders.Add(-1) == 0 {
			e.Close()
		}
	}
}
