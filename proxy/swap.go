package proxy

import (
	"context"
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
	"crossgate/quote"
)

// quoteRoute is a route of swap requests.
func (s *Server) quoteRoute(
	path string, cost int, hasRecipient bool,
	load func(context.Context, quote.Request) ([]jsonBody, cache.Life, error),
) route[quote.Request] {
	return route[quote.Request]{
		paths:   []string{path},
		methods: []string{http.MethodGet, http.MethodHead, http.MethodPost},
		dialect: swapping,
		cost:    cost,
		limit:   s.options.SwapLimit,
		parse:   func(c *gin.Context) (quote.Request, error) { return s.parseRequest(c, hasRecipient) },
		key:     swapKey,
		load:    load,
	}
}

// swapRoute quotes a swap and returns its transaction. Answers are not cached, because a transaction must never be
// stale; concurrent equal requests share one.
func (s *Server) swapRoute() route[quote.Request] {
	return s.quoteRoute("/v1.0/chain/transaction", swapCost, true, s.loadSwap)
}

// swapChain is where the context of a request keeps the chain of its swap.
const swapChain = "swap chain"

// parseRequest reads a swap request from its query, with POST also from its body, and from its Prefer header.
func (s *Server) parseRequest(c *gin.Context, hasRecipient bool) (quote.Request, error) {
	p, err := readParameters(c.Request.URL.RawQuery)
	if err == nil && c.Request.Method == http.MethodPost {
		err = p.addBody(c)
	}
	if err != nil {
		return quote.Request{}, err
	}
	r, err := parseSwap(p, s.options.Chains, hasRecipient)
	c.Set(swapChain, uint64(r.Chain))
	r.Wait = waitOf(c.Request.Header)
	return r, err
}

func (s *Server) loadSwap(ctx context.Context, r quote.Request) ([]jsonBody, cache.Life, error) {
	estimate, err := s.options.Swaps.Estimate(ctx, r)
	if err != nil {
		return nil, noLife, err
	}
	if r.Recipient.IsAbsent() {
		return quotedBody(s.encoder.AppendUnsigned(nil, estimate), estimate), noLife, nil
	}
	return quotedBody(s.encoder.AppendSwap(nil, estimate), estimate), noLife, nil
}

// quotedBody has the age of its prices and when its transaction expires.
func quotedBody(text []byte, e quote.Estimate) []jsonBody {
	return []jsonBody{{text: string(text), quoted: e.QuotedAt, expires: e.Expires, unsimulated: e.Unsimulated}}
}

// swapKey is a key of every field of a request.
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
