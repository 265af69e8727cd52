package proxy

import (
	"context"
	"errors"
	"time"

	"crossgate/cache"
	"crossgate/quote"
)

// comparisonLife is about a block. Prices are never served stale.
var comparisonLife = cache.Life{Fresh: 2 * time.Second}

// estimationRoute quotes a swap without a recipient and without a transaction.
func (s *Swaps) estimationRoute() route[quote.Request] {
	r := s.quoteRoute("/v1.0/chain/estimation", estimateCost, false, s.loadEstimation)
	r.shared = true // it reveals no sender, recipient or transaction
	r.key = func(path string, q quote.Request) cache.Key {
		q.Wait = 0 // how long the client prefers to wait does not matter for a cached comparison
		return swapKey(path, q)
	}
	return r
}

func (s *Swaps) loadEstimation(ctx context.Context, r quote.Request) ([]jsonBody, cache.Life, error) {
	estimate, err := s.options.Estimator.Estimate(ctx, r)
	if err != nil {
		return nil, noLife, err
	}
	return quotedBody(s.encoder.AppendEstimation(nil, estimate), estimate), comparisonLife, nil
}

// explanationRoute explains the response of /v1.0/chain/transaction to the same parameters, even where that is an
// error.
func (s *Swaps) explanationRoute() route[quote.Request] {
	return s.quoteRoute("/v1.0/chain/transaction/explain", swapCost, true, s.loadExplanation)
}

func (s *Swaps) loadExplanation(ctx context.Context, r quote.Request) ([]jsonBody, cache.Life, error) {
	estimate, err := s.options.Estimator.Estimate(ctx, r)
	if err != nil && (len(estimate.Asked) == 0 || errors.Is(err, context.Canceled)) {
		return nil, noLife, err // no venue was asked
	}
	return oneBody(s.encoder.AppendExplanation(nil, estimate, err)), noLife, nil
}
