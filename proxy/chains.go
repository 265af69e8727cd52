package proxy

import (
	"context"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
	"crossgate/chain"
)

// listLife is the life of lists, which change only with the configuration.
var listLife = cache.Life{Fresh: time.Minute, Stale: time.Hour}

// chainsRoute lists the chains on which swaps are supported.
func (s *Swaps) chainsRoute() route[struct{}] {
	return s.servingRoute("/v1.0/supported-chains-info", s.encoder.AppendChains)
}

// chainIDsRoute lists their ids.
func (s *Swaps) chainIDsRoute() route[struct{}] {
	return s.servingRoute("/v1.0/supported-chains", s.encoder.AppendChainIDs)
}

func (s *Swaps) servingRoute(path string, encode func([]byte, []chain.Chain) []byte) route[struct{}] {
	return route[struct{}]{
		paths:   []string{path},
		dialect: swapping,
		limit:   s.limit,
		parse:   func(*gin.Context) (struct{}, error) { return struct{}{}, nil },
		key:     func(path string, _ struct{}) cache.Key { return cache.KeyOf(path) },
		load: func(context.Context, struct{}) ([]jsonBody, cache.Life, error) {
			return oneBody(encode(nil, s.serving())), listLife, nil
		},
	}
}
