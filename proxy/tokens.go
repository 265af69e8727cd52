package proxy

import (
	"context"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/token"
)

// mostFound is how many tokens a search finds, and longestSearch how long its text may be in bytes.
const (
	mostFound     = 50
	longestSearch = 128
)

// tokensRoute lists the tokens of a chain.
func (s *Swaps) tokensRoute() route[chain.ID] {
	return route[chain.ID]{
		paths:   []string{"/v1.0/token-list"},
		dialect: swapping,
		limit:   s.limit,
		parse: func(c *gin.Context) (chain.ID, error) {
			return parseChainID(c.Request.URL.RawQuery, s.chains)
		},
		key: func(path string, id chain.ID) cache.Key { return cache.KeyOf(path, []byte(id.String())) },
		load: func(ctx context.Context, id chain.ID) ([]jsonBody, cache.Life, error) {
			return oneBody(s.encoder.AppendTokens(nil, id, s.options.Tokens.Listed(ctx, id))), listLife, nil
		},
	}
}

// tokenSearch looks for tokens by a text.
type tokenSearch struct {
	text  string
	chain chain.ID // 0: all of them
}

// tokenSearchRoute finds listed tokens by symbol, name or address, on one chain or on all that are supported. It is an
// addition to the documented paths.
func (s *Swaps) tokenSearchRoute() route[tokenSearch] {
	return route[tokenSearch]{
		paths:   []string{"/v1.0/token-list/search"},
		dialect: swapping,
		limit:   s.limit,
		parse: func(c *gin.Context) (tokenSearch, error) {
			return parseTokenSearch(c.Request.URL.RawQuery, s.chains)
		},
		key: func(path string, q tokenSearch) cache.Key {
			return cache.KeyOf(path, []byte(q.chain.String()), []byte(q.text))
		},
		load: s.findTokens,
	}
}

func parseTokenSearch(rawQuery string, chains chain.Registry) (q tokenSearch, err error) {
	p, err := readParameters(rawQuery)
	if err != nil {
		return q, err
	}
	if q.text = p.optional("query"); q.text == "" {
		p.mistake("query must be a symbol, a name or an address")
	} else if len(q.text) > longestSearch {
		p.mistake("query must be at most 128 bytes long")
	}
	if p.values.Has("chainId") {
		q.chain = p.chainID("chainId", chains)
	}
	return q, p.err()
}

func (s *Swaps) findTokens(ctx context.Context, q tokenSearch) ([]jsonBody, cache.Life, error) {
	var listed []token.Listing
	if q.chain != 0 {
		listed = s.options.Tokens.Listed(ctx, q.chain)
	} else {
		for _, c := range s.serving() {
			listed = append(listed, s.options.Tokens.Listed(ctx, c.ID)...)
		}
	}
	return oneBody(s.encoder.AppendFoundTokens(nil, token.Search(listed, q.text, mostFound))), listLife, nil
}
