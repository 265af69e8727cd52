package gateway

import (
	"context"
	"net/http"

	"crossgate/config"
	"crossgate/proxy/passthrough"
	"crossgate/upstream"
)

var _ passthrough.Origins = (*sets)(nil)

// originPrefix begins the name of what an origin's endpoints serve.
const originPrefix = "origin:"

// Forward implements passthrough.Origins. A response outlives the set that it is from.
func (s *sets) Forward(ctx context.Context, host string, f upstream.Forward) (*http.Response, error) {
	now := s.now()
	pool := now.parts.origins[host]
	if pool == nil { // removed from the configuration meanwhile
		return nil, passthrough.ErrNoHost
	}
	return pool.Forward(ctx, f)
}

// hosts converts the configured hosts for the public server.
func hosts(c config.Passthrough) []passthrough.Host {
	actions := map[string]passthrough.Action{"cache": passthrough.Cache, "pass": passthrough.Pass, "refuse": passthrough.Refuse}
	all := make([]passthrough.Host, len(c.Hosts))
	for i, each := range c.Hosts {
		all[i] = passthrough.Host{
			Name: each.Name, Hosts: each.Hosts, KeepHost: each.KeepHost, SetCookie: each.SetCookie, Rules: map[string]passthrough.Action{},
			MaxBody: min(passthrough.DefaultMaxBody, int64(c.MaxBytes)/8),
		}
		for prefix, do := range each.Paths {
			all[i].Rules[prefix] = actions[do]
		}
	}
	return all
}
