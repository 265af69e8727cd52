package swaps

import (
	"context"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/proxy"
	"crossgate/token"
)

// mostFound is how many tokens a search finds; LongestSearch is the maximum length of its text in bytes.
const (
	mostFound     = 50
	LongestSearch = 128
)

func (s *Swaps) tokensRoute() proxy.Route[chain.ID] {
	return proxy.Route[chain.ID]{
		Paths:   []string{"/v1.0/token-list"},
		Dialect: proxy.Swapping,
		Limit:   s.limit,
		Parse: func(c *gin.Context) (chain.ID, error) {
			p := proxy.ReadQuery(c.Request.URL.RawQuery)
			return p.ChainID("chainId", s.chains), p.Err()
		},
		Key: func(path string, id chain.ID) cache.Key { return cache.KeyOf(path, []byte(id.String())) },
		Load: func(ctx context.Context, id chain.ID) ([]proxy.Body, cache.Life, error) {
			return proxy.OneBody(s.encoder.AppendTokens(nil, id, s.Options().Tokens.Listed(ctx, id))), listLife, nil
		},
	}
}

// TokenSearch looks for tokens by a text.
type TokenSearch struct {
	Text  string
	chain chain.ID // 0 for all chains
}

// TokenSearchRoute finds listed tokens by symbol, name or address. It is an addition to the documented paths.
func (s *Swaps) TokenSearchRoute() proxy.Route[TokenSearch] {
	return proxy.Route[TokenSearch]{
		Paths:   []string{"/v1.0/token-list/search"},
		Dialect: proxy.Swapping,
		Limit:   s.limit,
		Parse: func(c *gin.Context) (TokenSearch, error) {
			return parseTokenSearch(c.Request.URL.RawQuery, s.chains)
		},
		Key:  func(path string, q TokenSearch) cache.Key { return proxy.KeyOf(path, q.chain, q.Text) },
		Load: s.findTokens,
	}
}

func parseTokenSearch(rawQuery string, chains chain.Registry) (q TokenSearch, err error) {
	p := proxy.ReadQuery(rawQuery)
	if q.Text = p.Optional("query"); q.Text == "" {
		p.Mistake("query must be a symbol, a name or an address")
	} else if len(q.Text) > LongestSearch {
		p.Mistake("query must be at most 128 bytes long")
	}
	if p.All("chainId") != nil {
		q.chain = p.ChainID("chainId", chains)
	}
	return q, p.Err()
}

func (s *Swaps) findTokens(ctx context.Context, q TokenSearch) ([]proxy.Body, cache.Life, error) {
	var listed []token.Listing
	if q.chain != 0 {
		listed = s.Options().Tokens.Listed(ctx, q.chain)
	} else {
		for _, c := range s.Serving() {
			listed = append(listed, s.Options().Tokens.Listed(ctx, c.ID)...)
		}
	}
	found := token.Search(listed, q.Text, mostFound)
	return []proxy.Body{{Text: string(s.encoder.AppendFoundTokens(nil, found)), Value: found}}, listLife, nil
}

// listLife is the life of lists, which change only with the configuration.
var listLife = cache.Life{Fresh: time.Minute, Stale: time.Hour}

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
