package swaps

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/proxy"
	"crossgate/proxy/wire"
	"crossgate/quote"
	"crossgate/token"
)

// Estimator prices swaps and builds their transactions (quote.Estimator).
type Estimator interface {
	// Estimate answers a swap request. An estimate returned with an error lists the venues asked before it failed.
	Estimate(context.Context, quote.Request) (quote.Estimate, error)
	// Balance returns a holder's balance of a token.
	Balance(ctx context.Context, id chain.ID, token, holder chain.Address) (chain.Amount, error)
	// Serves reports whether any venue serves a chain.
	Serves(chain.ID) bool
}

// Options are the services that swaps are quoted with.
type Options struct {
	Estimator Estimator
	Tokens    Lists
}

// Lists lists the tokens of a chain (token.Directory).
type Lists interface {
	// Listed returns the tokens of a chain from lists or the configuration, by ascending address.
	Listed(context.Context, chain.ID) []token.Listing
}

// Swaps serves quotes of swaps, and their chains and tokens.
type Swaps struct {
	Options func() Options // returns the current ones
	chains  chain.Registry
	limit   time.Duration
	encoder wire.Encoder
}

// Mount adds the paths of swaps to a server.
func Mount(server *proxy.Server, options func() Options) *Swaps {
	chains := server.Options.Chains
	s := &Swaps{Options: options, chains: chains, limit: server.Options.SwapLimit, encoder: wire.Encoder{Chains: chains}}
	// A transaction is not cached, because it must never be stale; concurrent equal requests share one.
	s.quoteRoute("/v1.0/chain/transaction", proxy.SwapCost, true, s.quoted(proxy.NoLife, s.encoder.AppendSwap)).Mount(server)
	// This explains the response of the path above to the same parameters, even if that is an error.
	s.quoteRoute("/v1.0/chain/transaction/explain", proxy.SwapCost, true, s.compared(false)).Mount(server)
	s.estimationRoute().Mount(server)
	s.servingRoute("/v1.0/supported-chains-info", s.encoder.AppendChains).Mount(server)
	s.servingRoute("/v1.0/supported-chains", s.encoder.AppendChainIDs).Mount(server)
	s.tokensRoute().Mount(server)
	s.TokenSearchRoute().Mount(server)
	return s
}

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
		Key:     func(path string, r quote.Request) cache.Key { return proxy.KeyOf(path, r) },
		Load:    load,
	}
}

// parseRequest parses a swap request from its query, its body if it is a POST, and its Prefer header.
func (s *Swaps) parseRequest(c *gin.Context, hasRecipient bool) (quote.Request, error) {
	p := &parameters{Query: proxy.ReadQuery(c.Request.URL.RawQuery)}
	if c.Request.Method == http.MethodPost {
		if err := p.addBody(c); err != nil {
			return quote.Request{}, err
		}
	}
	r, err := ParseSwap(p, s.chains, hasRecipient)
	c.Set(proxy.SwapChain, uint64(r.Chain))
	r.Wait = waitOf(c.Request.Header)
	c.Header("Vary", "Accept-Encoding, Prefer")
	return r, err
}

// quoted returns a loader of estimates, with the age of their prices and the expiry of their transactions.
func (s *Swaps) quoted(life cache.Life, encode func([]byte, quote.Estimate) []byte) func(context.Context, quote.Request) ([]proxy.Body, cache.Life, error) {
	return func(ctx context.Context, r quote.Request) ([]proxy.Body, cache.Life, error) {
		e, err := s.Options().Estimator.Estimate(ctx, r)
		if err != nil {
			return nil, proxy.NoLife, err
		}
		return []proxy.Body{{Text: string(encode(nil, e)), Quoted: e.QuotedAt, Expires: e.Expires, Unsimulated: e.Unsimulated}}, life, nil
	}
}

// ComparisonRoute serves the swap page and is not mounted. Its text is the estimate, or why there is none.
func (s *Swaps) ComparisonRoute() proxy.Route[quote.Request] {
	return s.quoteRoute("/swap", proxy.SwapCost, false, s.compared(true))
}

// Comparison is the result of a comparison, for pages.
type Comparison struct {
	quote.Estimate
	Err error // why the transaction is missing; nil if it is not
}

// compared returns a loader of explanations or, if isAnswer, of estimates where they succeed.
func (s *Swaps) compared(isAnswer bool) func(context.Context, quote.Request) ([]proxy.Body, cache.Life, error) {
	return func(ctx context.Context, r quote.Request) ([]proxy.Body, cache.Life, error) {
		e, err := s.Options().Estimator.Estimate(ctx, r)
		if err != nil && (len(e.Asked) == 0 || errors.Is(err, context.Canceled)) {
			return nil, proxy.NoLife, err // no venue was asked
		}
		b := proxy.Body{Value: Comparison{e, err}}
		if isAnswer && err == nil {
			b.Text = string(s.encoder.AppendSwap(nil, e))
		} else {
			b.Text = string(s.encoder.AppendExplanation(nil, e, err))
		}
		return []proxy.Body{b}, proxy.NoLife, nil
	}
}

// Serving returns the chains on which swaps are supported.
func (s *Swaps) Serving() []chain.Chain {
	var serving []chain.Chain
	for _, c := range s.chains.All() {
		if s.Options().Estimator.Serves(c.ID) {
			serving = append(serving, c)
		}
	}
	return serving
}

// comparisonLife is about one block. Prices are never served stale.
var comparisonLife = cache.Life{Fresh: 2 * time.Second}

// estimationRoute quotes a swap without a recipient and without a transaction.
func (s *Swaps) estimationRoute() proxy.Route[quote.Request] {
	r := s.quoteRoute("/v1.0/chain/estimation", proxy.EstimateCost, false, s.quoted(comparisonLife, s.encoder.AppendEstimation))
	r.Shared = true // it reveals no sender, recipient or transaction
	r.Key = func(path string, q quote.Request) cache.Key {
		if q.Wait >= patience {
			q.Wait = 0
		}
		return proxy.KeyOf(path, q)
	}
	return r
}

// patience is at least as long as venues are waited for: with it a client gets the same comparison as all others.
const patience = 3 * time.Second

// waitOf returns how long the client prefers to wait (RFC 7240, section 4.3: whole seconds), zero without preference.
func waitOf(header http.Header) time.Duration {
	const longest = 60
	for preference := range strings.SplitSeq(strings.Join(header.Values("Prefer"), ","), ",") {
		preference, _, _ = strings.Cut(preference, ";")
		name, value, _ := strings.Cut(preference, "=")
		if strings.EqualFold(strings.TrimSpace(name), "wait") {
			seconds, _ := strconv.ParseUint(strings.Trim(strings.TrimSpace(value), `"`), 10, 32) // zero if it is not a number
			return time.Duration(min(seconds, longest)) * time.Second
		}
	}
	return 0
}
