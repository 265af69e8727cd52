package proxy

import (
	"context"
	"fmt"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
	"crossgate/quote"
)

// swapRoute answers what a swap costs and which transaction makes it. Its answers are not kept, since a
// transaction must never be stale; equal requests at the same time share one.
func (s *Server) swapRoute() route[quote.Request] {
	return route[quote.Request]{
		paths:   []string{"/v1.0/chain/transaction"},
		dialect: swapping,
		cost:    swapCost,
		limit:   s.options.SwapLimit,
		parse:   func(c *gin.Context) (quote.Request, error) { return s.parseRequest(c, true) },
		key:     swapKey,
		load:    s.loadSwap,
	}
}

// parseRequest reads a swap request: its query, and how long the client prefers to wait.
func (s *Server) parseRequest(c *gin.Context, hasRecipient bool) (quote.Request, error) {
	r, err := parseSwap(c.Request.URL.RawQuery, s.options.Chains, hasRecipient)
	r.Wait = waitOf(c.Request.Header)
	return r, err
}

func (s *Server) loadSwap(ctx context.Context, r quote.Request) ([]jsonBody, cache.Life, error) {
	estimate, err := s.options.Swaps.Estimate(ctx, r)
	if err != nil {
		return nil, noLife, err
	}
	return quotedBody(s.encoder.AppendSwap(nil, estimate), estimate), noLife, nil
}

// quotedBody is a body with the age of its prices and how long they hold.
func quotedBody(text []byte, e quote.Estimate) []jsonBody {
	return []jsonBody{{text: string(text), quoted: e.QuotedAt, expires: e.Expires}}
}

// swapKey names a request by all that it says.
func swapKey(path string, r quote.Request) cache.Key {
	slippage := "auto"
	if r.SlippagePercent != nil {
		slippage = r.SlippagePercent.String()
	}
	parts := []any{
		r.Chain, r.TokenIn, r.TokenOut, r.AmountIn, r.MaxBalance, r.MinOut, r.Recipient, r.Sender, slippage,
		r.Affiliate.Percent, r.Affiliate.Recipient, r.Priority, r.ReferralCode, r.Wait,
	}
	var fields [][]byte
	for _, part := range parts {
		fields = append(fields, fmt.Append(nil, part))
	}
	return cache.KeyOf(path, fields...)
}
