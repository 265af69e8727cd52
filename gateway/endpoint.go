package gateway

import (
	"reflect"
	"slices"
	"strings"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"

	"crossgate/config"
	"crossgate/upstream"
)

// endpoint is an endpoint with its configuration. Sets with the same configuration share it, including its breaker,
// rate budget and measurements; the last one closes it.
type endpoint struct {
	*upstream.Endpoint
	of      string // what it serves: a chain by its id, a venue or a price service by its name
	config  config.Endpoint
	holders atomic.Int64 // number of sets
}

// endpoint returns the endpoint that each describes: the previous configuration's if unchanged, or else a new one that
// takes over the cordon and the plan spending of the previous endpoint of that name.
func (b *builder) endpoint(of string, each config.Endpoint, attributes ...attribute.KeyValue) (*endpoint, error) {
	before := b.before.endpoint(of, each.Name)
	if before != nil && reflect.DeepEqual(before.config, each) {
		before.holders.Add(1)
		return before, nil
	}
	o := EndpointOptions(each)
	o.Attributes, o.Logger, o.Forwards = attributes, b.log, strings.HasPrefix(of, originPrefix)
	made, err := upstream.NewEndpoint(o)
	if err != nil {
		return nil, err
	}
	if before != nil {
		made.Replace(before.Endpoint)
	}
	e := &endpoint{Endpoint: made, of: of, config: each}
	e.holders.Store(1)
	return e, nil
}

// EndpointOptions returns the configured options of an endpoint.
func EndpointOptions(c config.Endpoint) upstream.EndpointOptions {
	return upstream.EndpointOptions{
		Name: c.Name, URL: c.URL.Reveal(), Header: c.Header(), Timeout: c.Timeout,
		RequestsPerSecond: c.RequestsPerSecond, Burst: c.Burst, Units: c.Costs["*"], Monthly: c.Monthly,
	}
}

// endpoint returns the endpoint with a name that serves of, or nil.
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

func (p *parts) called() []*upstream.Endpoint {
	called := make([]*upstream.Endpoint, len(p.endpoints))
	for i, e := range p.endpoints {
		called[i] = e.Endpoint
	}
	return called
}

// close waits for writes in progress, releases the endpoints and closes those that no other set holds.
func (p *parts) close() {
	if p.tokens != nil { // nil if building failed
		p.tokens.Close()
	}
	for _, e := range p.endpoints {
		if e.holders.Add(-1) == 0 {
			e.Close()
		}
	}
}
