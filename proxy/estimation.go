package proxy

import (
	"context"
	"errors"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
	"crossgate/quote"
)

// comparisonLife is about a block. A price is not served past it, whatever goes wrong.
var comparisonLife = cache.Life{Fresh: 2 * time.Second}

// estimationRoute answers what a swap costs, for nobody in particular: no recipient, no transaction.
func (s *Server) estimationRoute() route[quote.Request] {
	return route[quote.Request]{
		paths:   []string{"/v1.0/chain/estimation"},
		dialect: swapping,
		cost:    estimateCost,
		limit:   s.options.SwapLimit,
		parse:   func(c *gin.Context) (quote.Request, error) { return s.parseRequest(c, false) },
		key:     comparisonKey,
		load: func(ctx context.Context, r quote.Request) ([]jsonBody, cache.Life, error) {
			estimate, err := s.options.Swaps.Estimate(ctx, r)
			if err != nil {
				return nil, noLife, err
			}
			return quotedBody(s.encoder.AppendEstimation(nil, estimate), estimate), comparisonLife, nil
		},
		shared: true, // it tells of no sender, no recipient and no transaction
	}
}

// comparisonKey leaves out how long the client prefers to wait: a comparison that is there answers everybody.
func comparisonKey(path string, r quote.Request) cache.Key {
	r.Wait = 0
	return swapKey(path, r)
}

// explanationRoute answers how the answer of /v1.0/chain/transaction to the same parameters comes about, also
// when it comes to none.
func (s *Server) explanationRoute() route[quote.Request] {
	return route[quote.Request]{
		paths:   []string{"/v1.0/chain/transaction/explain"},
		dialect: swapping,
		cost:    swapCost,
		limit:   s.options.SwapLimit,
		parse:   func(c *gin.Context) (quote.Request, error) { return s.parseRequest(c, true) },
		key:     swapKey,
		load: func(ctx context.Context, r quote.Request) ([]jsonBody, cache.Life, error) {
			estimate, err := s.options.Swaps.Estimate(ctx, r)
			if err != nil && (len(estimate.Asked) == 0 || errors.Is(err, context.Canceled)) {
				return nil, noLife, err // nobody was asked
			}
			return oneBody(s.encoder.AppendExplanation(nil, estimate, err)), noLife, nil
		},
	}
}
