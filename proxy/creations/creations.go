// Package creations contains the paths that quote, create and explain orders.
package creations

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order"
	"crossgate/proxy"
	"crossgate/proxy/orders"
	"crossgate/proxy/wire"
	"crossgate/quote/crosschain"
)

// Estimate prices an order and builds its transaction (crosschain.Estimator). An estimate returned with an error has
// the routes followed before it failed.
type Estimate func(context.Context, crosschain.Request) (crosschain.Estimate, error)

// Creations serves the paths of orders that do not exist yet.
type Creations struct {
	estimate Estimate
	chains   chain.Registry
	limit    time.Duration
	encoder  wire.Encoder
	orders   *orders.Orders
}

// Mount adds the paths to a server. Statistics of earlier orders come from earlier.
func Mount(server *proxy.Server, earlier *orders.Orders, estimate Estimate) *Creations {
	chains := server.Options.Chains
	c := &Creations{estimate: estimate, chains: chains, limit: server.Options.SwapLimit, encoder: wire.Encoder{Chains: chains}, orders: earlier}
	c.quoteRoute().Mount(server)
	c.createRoute().Mount(server)
	c.explainRoute().Mount(server)
	return c
}

func (s *Creations) route(path string, cost int, isQuote bool, load func(context.Context, wanted) ([]proxy.Body, cache.Life, error)) proxy.Route[wanted] {
	return proxy.Route[wanted]{
		Paths:   []string{path},
		Dialect: proxy.Swapping,
		Cost:    cost,
		Limit:   s.limit,
		Parse: func(c *gin.Context) (wanted, error) {
			q, err := parse(c.Request.URL.RawQuery, s.chains, isQuote)
			c.Set(proxy.SwapChain, uint64(q.request.Give))
			return q, err
		},
		Key:  func(path string, q wanted) cache.Key { return proxy.KeyOf(path, q.request, q.hasGas) },
		Load: load,
	}
}

// quotedLife is about one block. Prices are never served stale.
var quotedLife = cache.Life{Fresh: 2 * time.Second}

// quoteRoute answers with an order's price and what has to be approved.
func (s *Creations) quoteRoute() proxy.Route[wanted] {
	r := s.route("/v1.0/dln/order/quote", proxy.EstimateCost, true, func(ctx context.Context, q wanted) ([]proxy.Body, cache.Life, error) {
		e, err := s.estimate(ctx, q.request)
		if err != nil {
			return nil, proxy.NoLife, err
		}
		return []proxy.Body{{Text: string(s.encoder.AppendOrderQuote(nil, e)), Quoted: e.At}}, quotedLife, nil
	})
	r.Shared = true
	return r
}

// createRoute answers with an order's transaction, or with an estimate if its parties are not given. A transaction is
// not cached, because it must never be stale; concurrent equal requests share one.
func (s *Creations) createRoute() proxy.Route[wanted] {
	return s.route("/v1.0/dln/order/create-tx", proxy.SwapCost, false, func(ctx context.Context, q wanted) ([]proxy.Body, cache.Life, error) {
		e, err := s.estimate(ctx, q.request)
		if err != nil {
			return nil, proxy.NoLife, err
		}
		b := proxy.Body{Value: e, Quoted: e.At}
		if e.Made == nil {
			b.Text = string(s.encoder.AppendOrderEstimation(nil, e))
			return []proxy.Body{b}, quotedLife, nil
		}
		if b.Unsimulated = e.Made.IsUnapproved; b.Unsimulated && q.hasGas {
			return nil, proxy.NoLife, proxy.Unapproved.Because(fmt.Sprintf("enableEstimate: approve %s of %s for %s first, without which the transaction cannot be simulated on this chain; or leave enableEstimate out",
				e.Course.In, e.TokenIn.Format(e.GiveChain.Family), e.Made.To.Format(e.GiveChain.Family)))
		}
		b.Text = string(s.encoder.AppendOrderCreation(nil, e, q.hasGas))
		if e.Made.Venue != nil {
			b.Expires = e.Made.Venue.Expires
		}
		return []proxy.Body{b}, proxy.NoLife, nil
	})
}

// Ask answers a create-tx query for a page. It returns the estimate and the response that clients get.
func (s *Creations) Ask(ctx context.Context, server *proxy.Server, query url.Values) (crosschain.Estimate, string, error) {
	q, err := parse(query.Encode(), s.chains, false)
	if err != nil {
		return crosschain.Estimate{}, "", err
	}
	found, _, err := s.createRoute().Ask(ctx, server, q)
	if err != nil {
		return crosschain.Estimate{}, "", err
	}
	return found.Value.(crosschain.Estimate), found.Text, nil
}

// explainRoute explains the response of create-tx to the same parameters, even if that is an error.
func (s *Creations) explainRoute() proxy.Route[wanted] {
	return s.route("/v1.0/dln/order/create-tx/explain", proxy.SwapCost, false, func(ctx context.Context, q wanted) ([]proxy.Body, cache.Life, error) {
		e, err := s.estimate(ctx, q.request)
		if errors.Is(err, context.Canceled) || err != nil && len(e.Passed) == 0 && e.Amount.IsZero() {
			return nil, proxy.NoLife, err // no route was followed
		}
		return proxy.OneBody(s.encoder.AppendOrderExplanation(nil, e, s.fills(ctx, q.request, e), err)), proxy.NoLife, nil
	})
}

// fills returns the fills of earlier orders with the margin of an estimate, nil if either is unknown or the order is
// reserved for one taker.
func (s *Creations) fills(ctx context.Context, r crosschain.Request, e crosschain.Estimate) *order.Fills {
	margin, known := e.MarginClass()
	if !known || r.Making != nil && !r.Making.Authorities.AllowedTaker.IsAbsent() {
		return nil
	}
	usual := s.orders.UsualTimes(ctx, r.Give, r.Take, time.Now())
	if usual == nil {
		return nil
	}
	if i := slices.IndexFunc(usual.Fills, func(f order.Fills) bool { return f.Margin == margin }); i >= 0 {
		return &usual.Fills[i]
	}
	return &order.Fills{Margin: margin}
}
