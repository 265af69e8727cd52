package proxy

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/proxy/wire"
)

// listLife is the life of lists, which change only with the configuration.
var listLife = cache.Life{Fresh: time.Minute, Stale: time.Hour}

// chainsRoute lists the chains on which swaps are supported.
func (s *Server) chainsRoute() route[struct{}] {
	return s.servingRoute("/v1.0/supported-chains-info", s.encoder.AppendChains)
}

// chainIDsRoute lists their ids.
func (s *Server) chainIDsRoute() route[struct{}] {
	return s.servingRoute("/v1.0/supported-chains", s.encoder.AppendChainIDs)
}

func (s *Server) servingRoute(path string, encode func([]byte, []chain.Chain) []byte) route[struct{}] {
	return route[struct{}]{
		paths:   []string{path},
		dialect: swapping,
		limit:   s.options.SwapLimit,
		parse:   func(*gin.Context) (struct{}, error) { return struct{}{}, nil },
		key:     func(path string, _ struct{}) cache.Key { return cache.KeyOf(path) },
		load: func(context.Context, struct{}) ([]jsonBody, cache.Life, error) {
			return oneBody(encode(nil, s.serving())), listLife, nil
		},
	}
}

// tokensRoute lists the well-known tokens of a chain.
func (s *Server) tokensRoute() route[chain.ID] {
	return route[chain.ID]{
		paths:   []string{"/v1.0/token-list"},
		dialect: swapping,
		limit:   s.options.SwapLimit,
		parse: func(c *gin.Context) (chain.ID, error) {
			return parseChainID(c.Request.URL.RawQuery, s.options.Chains)
		},
		key:  func(path string, id chain.ID) cache.Key { return cache.KeyOf(path, []byte(id.String())) },
		load: s.loadTokens,
	}
}

func (s *Server) loadTokens(ctx context.Context, id chain.ID) ([]jsonBody, cache.Life, error) {
	addresses := s.options.Tokens.Listed(id)
	tokens, err := s.options.Tokens.Lookup(ctx, id, addresses...)
	if err != nil {
		return nil, noLife, err
	}
	listed := make([]wire.ListedToken, len(tokens))
	for i, t := range tokens {
		listed[i] = wire.ListedToken{Address: addresses[i], Token: t}
	}
	slices.SortFunc(listed, func(a, b wire.ListedToken) int {
		return bytes.Compare(a.Address.Bytes(), b.Address.Bytes())
	})
	return oneBody(s.encoder.AppendTokens(nil, id, listed)), listLife, nil
}
