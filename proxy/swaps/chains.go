package swaps

import (
	"context"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/proxy"
)

// listLife is the life of lists, which change only with the configuration.
var listLife = cache.Life{Fresh: time.Minute, Stale: time.Hour}

// chainsRoute lists the chains on which swaps are supported.
func (s *Swaps) chainsRoute() proxy.Route[struct{}] {
	return s.servingRoute("/v1.0/supported-chains-info", s.encoder.AppendChains)
}

// chainIDsRoute lists their ids.
func (s *Swaps) chainIDsRoute() proxy.Route[struct{}] {
	return s.servingRoute("/v1.0/supported-chains", s.encoder.AppendChainIDs)
}

func (s *Swaps) servingRoute(path string, encode func([]byte, []chain.Chain) []byte) proxy.Route[struct{}] {
	return proxy.Route[struct{}]{
		Paths:   []string{path},
		Dialect: proxy.Swapping,
		Limit:   s.limit,
		Parse:   func(*gin.Context) (struct{}, error) { return struct{}{}, nil },
		Key:     func(path string, _ struct{}) cache.Key { return cache.KeyOf(path) },
		Load: func(context.Context, struct{}) ([]proxy.Body, cache.Life, error) {
			return proxy.OneBody(encode(nil, s.Serving())), listLife, nil
		},
	}
}
