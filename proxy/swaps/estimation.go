package swaps

import (
	"context"
	"errors"
	"time"

	"crossgate/cache"
	"crossgate/proxy"
	"crossgate/quote"
)

// comparisonLife is about a block. Prices are never served stale.
var comparisonLife = cache.Life{Fresh: 2 * time.Second}

// estimationRoute quotes a swap without a recipient and without a transaction.
func (s *Swaps) estimationRoute() proxy.Route[quote.Request] {
	r := s.quoteRoute("/v1.0/chain/estimation", proxy.EstimateCost, false, s.loadEstimation)
	r.Shared = true // it reveals no sender, recipient or transaction
	r.Key = func(path string, q quote.Request) cache.Key {
		q.Wait = 0 // how long the client prefers to wait does not matter for a cached comparison
		return swapKey(path, q)
	}
	return r
}

func (s *Swaps) loadEstimation(ctx context.Context, r quote.Request) ([]proxy.Body, cache.Life, error) {
	estimate, err := s.Options.Estimator.Estimate(ctx, r)
	if err != nil {
		return nil, proxy.NoLife, err
	}
	return quotedBody(s.encoder.AppendEstimation(nil, estimate), estimate), comparisonLife, nil
}

// explanationRoute explains the response of /v1.0/chain/transaction to the same parameters, even where that is an
// error.
func (s *Swaps) explanationRoute() proxy.Route[quote.Request] {
	return s.quoteRoute("/v1.0/chain/transaction/explain", proxy.SwapCost, true, s.loadExplanation)
}

func (s *Swaps) loadExplanation(ctx context.Context, r quote.Request) ([]proxy.Body, cache.Life, error) {
	estimate, err := s.Options.Estimator.Estimate(ctx, r)
	if err != nil && (len(estimate.Asked) == 0 || errors.Is(err, context.Canceled)) {
		return nil, proxy.NoLife, err // no venue was asked
	}
	return proxy.OneBody(s.encoder.AppendExplanation(nil, estimate, err)), proxy.NoLife, nil
}
