package swaps

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/proxy"
	"crossgate/proxy/wire"
	"crossgate/quote"
	"crossgate/token"
)

// Estimator prices swaps and makes their transactions (quote.Estimator).
type Estimator interface {
	// Estimate answers a swap request. An estimate beside an error lists the venues that were asked before it failed.
	Estimate(context.Context, quote.Request) (quote.Estimate, error)
	// Serves reports whether any venue serves a chain.
	Serves(chain.ID) bool
}

// Options are what swaps are quoted by.
type Options struct {
	Estimator Estimator
	Tokens    Lists
}

// Lists knows the tokens of a chain (token.Directory).
type Lists interface {
	// Listed returns the tokens of a chain that a list or the configuration has, by ascending address.
	Listed(context.Context, chain.ID) []token.Listing
}

// Swaps answers what a swap would cost, and on which chains and of which tokens there are any.
type Swaps struct {
	Options Options
	chains  chain.Registry
	limit   time.Duration
	encoder wire.Encoder
}

// Mount adds the paths of swaps to a server.
func Mount(server *proxy.Server, options Options) *Swaps {
	chains := server.ChainRegistry()
	s := &Swaps{Options: options, chains: chains, limit: server.Limits().SwapLimit, encoder: wire.Encoder{Chains: chains}}
	s.swapRoute().Mount(server)
	s.explanationRoute().Mount(server)
	s.estimationRoute().Mount(server)
	s.chainsRoute().Mount(server)
	s.chainIDsRoute().Mount(server)
	s.tokensRoute().Mount(server)
	s.TokenSearchRoute().Mount(server)
	return s
}

// quoteRoute is a route of swap requests.
func (s *Swaps) quoteRoute(
	path string, cost int, hasRecipient bool,
	load func(context.Context, quote.Request) ([]proxy.Body, cache.Life, error),
) proxy.Route[quote.Request] {
	return proxy.Route[quote.Request]{
		Paths:   []string{path},
		Methods: []string{http.MethodGet, http.MethodHead, http.MethodPost},
		Dialect: proxy.Swapping,
		Cost:    cost,
		Limit:   s.limit,
		Parse:   func(c *gin.Context) (quote.Request, error) { return s.parseRequest(c, hasRecipient) },
		Key:     swapKey,
		Load:    load,
	}
}

// swapRoute quotes a swap and returns its transaction. Answers are not cached, because a transaction must never be
// stale; concurrent equal requests share one.
func (s *Swaps) swapRoute() proxy.Route[quote.Request] {
	return s.quoteRoute("/v1.0/chain/transaction", proxy.SwapCost, true, s.loadSwap)
}

// parseRequest reads a swap request from its query, with POST also from its body, and from its Prefer header.
func (s *Swaps) parseRequest(c *gin.Context, hasRecipient bool) (quote.Request, error) {
	p, err := readParameters(c.Request.URL.RawQuery)
	if err == nil && c.Request.Method == http.MethodPost {
		err = p.addBody(c)
	}
	if err != nil {
		return quote.Request{}, err
	}
	r, err := ParseSwap(p, s.chains, hasRecipient)
	c.Set(proxy.SwapChain, uint64(r.Chain))
	r.Wait = waitOf(c.Request.Header)
	return r, err
}

func (s *Swaps) loadSwap(ctx context.Context, r quote.Request) ([]proxy.Body, cache.Life, error) {
	estimate, err := s.Options.Estimator.Estimate(ctx, r)
	if err != nil {
		return nil, proxy.NoLife, err
	}
	if r.Recipient.IsAbsent() {
		return quotedBody(s.encoder.AppendUnsigned(nil, estimate), estimate), proxy.NoLife, nil
	}
	return quotedBody(s.encoder.AppendSwap(nil, estimate), estimate), proxy.NoLife, nil
}

// quotedBody has the age of its prices and when its transaction expires.
func quotedBody(text []byte, e quote.Estimate) []proxy.Body {
	return []proxy.Body{{Text: string(text), Quoted: e.QuotedAt, Expires: e.Expires, Unsimulated: e.Unsimulated}}
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

// ComparisonRoute compares for the page of a swap, and is not mounted: its text is the estimate, or the explanation why
// there is none.
func (s *Swaps) ComparisonRoute() proxy.Route[quote.Request] {
	return s.quoteRoute("/swap", proxy.SwapCost, false, s.loadComparison)
}

// Comparison is what came of a comparison, for pages.
type Comparison struct {
	quote.Estimate
	Err error // why there is no transaction; nil: there is one
}

func (s *Swaps) loadComparison(ctx context.Context, r quote.Request) ([]proxy.Body, cache.Life, error) {
	estimate, err := s.Options.Estimator.Estimate(ctx, r)
	if err != nil && (len(estimate.Asked) == 0 || errors.Is(err, context.Canceled)) {
		return nil, proxy.NoLife, err // no venue was asked
	}
	text := s.encoder.AppendExplanation(nil, estimate, err)
	switch {
	case err != nil:
	case r.Recipient.IsAbsent():
		text = s.encoder.AppendUnsigned(nil, estimate)
	default:
		text = s.encoder.AppendSwap(nil, estimate)
	}
	return []proxy.Body{{Text: string(text), Value: Comparison{estimate, err}}}, proxy.NoLife, nil
}

// Serving are the chains on which swaps are supported.
func (s *Swaps) Serving() []chain.Chain {
	var serving []chain.Chain
	for _, c := range s.chains.All() {
		if s.Options.Estimator.Serves(c.ID) {
			serving = append(serving, c)
		}
	}
	return serving
}
