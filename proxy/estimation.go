package proxy

import (
	"context"
	"errors"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
	"crossgate/quote"
)

// comparisonLife is about a block. Prices are never served stale.
var comparisonLife = cache.Life{Fresh: 2 * time.Second}

// estimationRoute quotes a swap without a recipient and without a transaction.
func (s *Server) estimationRoute() route[quote.Request] {
	return route[quote.Request]{
		paths:   []string{"/v1.0/chain/estimation"},
		dialect: swapping,
		cost:    estimateCost,
		limit:   s.options.SwapLimit,
		parse:   func(c *gin.Context) (quote.Request, error) { return s.parseRequest(c, false) },
		key:     comparisonKey,
		load: func(ctx context.Context, r quote.Request) ([]page, cache.Life, error) {
			estimate, err := s.options.Swaps.Estimate(ctx, r)
			if err != nil {
				return nil, noLife, err
			}
			return quotedPage(s.encoder.AppendEstimation(nil, estimate), estimate), comparisonLife, nil
		},
		shared: true, // it reveals no sender, recipient or transaction
	}
}

// comparisonKey leaves out how long the client prefers to wait, which does not matter for a cached comparison.
func comparisonKey(path string, r quote.Request) cache.Key {
	r.Wait = 0
	return swapKey(path, r)
}

// explanationRoute explains the response of /v1.0/chain/transaction to the same parameters, even where that is an
// error.
func (s *Server) explanationRoute() route[quote.Request] {
	return route[quote.Request]{
		paths:   []string{"/v1.0/chain/transaction/explain"},
		dialect: swapping,
		cost:    swapCost,
		limit:   s.options.SwapLimit,
		parse:   func(c *gin.Context) (quote.Request, error) { return s.parseRequest(c, true) },
		key:     swapKey,
		load: func(ctx context.Context, r quote.Request) ([]page, cache.Life, error) {
			estimate, err := s.options.Swaps.Estimate(ctx, r)
			if err != nil && (len(estimate.Asked) == 0 || errors.Is(err, context.Canceled)) {
				return nil, noLife, err // no venue was asked
			}
			return onePage(s.encoder.AppendExplanation(nil, estimate, err)), noLife, nil
		},
	}
}
