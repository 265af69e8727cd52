package proxy

import (
	"context"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
	"crossgate/order"
	"crossgate/order/index"
)

// termsRoute answers an order's terms and state in the texts of the swap API.
func (s *Orders) termsRoute() route[order.ID] {
	return s.faceRoute("/v1.0/dln/order/:orderId", swapping, unknownStatus, s.encoder.AppendTerms)
}

// statusRoute answers how far the order with an id has come, in the words of the swap API.
func (s *Orders) statusRoute() route[order.ID] {
	return s.faceRoute("/v1.0/dln/order/:orderId/status", swapping, unknownStatus, s.encoder.AppendStatus)
}

// stateRoute answers the same as a bare string.
func (s *Orders) stateRoute() route[order.ID] {
	return s.faceRoute("/api/Orders/:orderId/state", tracking, unknownOrder, s.encoder.AppendState)
}

// liteRoute answers an order's terms and state, in the encodings of the record.
func (s *Orders) liteRoute() route[order.ID] {
	return s.faceRoute("/api/Orders/:orderId/liteModel", tracking, unknownOrder, s.encoder.AppendLite)
}

// faceRoute answers one of the forms of an order that need nothing but the order.
func (s *Orders) faceRoute(path string, d dialect, notFound kind, encode func([]byte, *order.Order) []byte) route[order.ID] {
	return route[order.ID]{
		paths:   []string{path},
		dialect: d,
		limit:   s.limit,
		parse:   func(c *gin.Context) (order.ID, error) { return parseOrderID(c, d) },
		key:     orderKey,
		load: func(ctx context.Context, id order.ID) ([]jsonBody, cache.Life, error) {
			o, err := s.orderByID(ctx, id)
			if err != nil {
				return nil, noLife, unknown(err, notFound, o.Basis)
			}
			return []jsonBody{bodyOf(encode(nil, o.Order), o)}, lifeOf([]index.Found{o}), nil
		},
		indexed: true,
		shared:  true,
	}
}
