package orders

import (
	"context"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
	"crossgate/order"
	"crossgate/order/index"
	"crossgate/proxy"
)

// termsRoute answers an order's terms and state in the texts of the swap API.
func (s *Orders) termsRoute() proxy.Route[order.ID] {
	return s.faceRoute("/v1.0/dln/order/:orderId", proxy.Swapping, proxy.UnknownStatus, s.encoder.AppendTerms)
}

// statusRoute answers how far the order with an id has come, in the words of the swap API.
func (s *Orders) statusRoute() proxy.Route[order.ID] {
	return s.faceRoute("/v1.0/dln/order/:orderId/status", proxy.Swapping, proxy.UnknownStatus, s.encoder.AppendStatus)
}

// stateRoute answers the same as a bare string.
func (s *Orders) stateRoute() proxy.Route[order.ID] {
	return s.faceRoute("/api/Orders/:orderId/state", proxy.Tracking, proxy.UnknownOrder, s.encoder.AppendState)
}

// liteRoute answers an order's terms and state, in the encodings of the record.
func (s *Orders) liteRoute() proxy.Route[order.ID] {
	return s.faceRoute("/api/Orders/:orderId/liteModel", proxy.Tracking, proxy.UnknownOrder, s.encoder.AppendLite)
}

// faceRoute answers one of the forms of an order that need nothing but the order.
func (s *Orders) faceRoute(path string, d proxy.Dialect, notFound proxy.Kind, encode func([]byte, *order.Order) []byte) proxy.Route[order.ID] {
	return proxy.Route[order.ID]{
		Paths:   []string{path},
		Dialect: d,
		Limit:   s.limit,
		Parse:   func(c *gin.Context) (order.ID, error) { return parseOrderID(c, d) },
		Key:     orderKey,
		Load: func(ctx context.Context, id order.ID) ([]proxy.Body, cache.Life, error) {
			o, err := s.orderByID(ctx, id)
			if err != nil {
				return nil, proxy.NoLife, unknown(err, notFound, o.Basis)
			}
			return []proxy.Body{bodyOf(encode(nil, o.Order), o)}, lifeOf([]index.Found{o}), nil
		},
		Indexed: true,
		Shared:  true,
	}
}
