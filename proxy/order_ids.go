package proxy

import (
	"context"
	"errors"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/index"
)

// orderIDsRoute answers which orders a transaction created, in the words of the tracking API.
func (s *Server) orderIDsRoute() route[chain.TxHash] {
	return s.idsRoute("/api/Transaction/:hash/orderIds", tracking, s.encoder.AppendOrderIDs)
}

// orderIDTextsRoute answers the same in the words of the swap API.
func (s *Server) orderIDTextsRoute() route[chain.TxHash] {
	return s.idsRoute("/v1.0/dln/tx/:hash/order-ids", swapping, s.encoder.AppendOrderIDTexts)
}

func (s *Server) idsRoute(path string, d dialect, encode func([]byte, []order.ID) []byte) route[chain.TxHash] {
	return route[chain.TxHash]{
		paths:   []string{path},
		dialect: d,
		limit:   s.options.OrderLimit,
		parse:   func(c *gin.Context) (chain.TxHash, error) { return parseTxHash(c.Param("hash")) },
		key:     txKey,
		load: func(ctx context.Context, tx chain.TxHash) ([]jsonBody, cache.Life, error) {
			b, life, err := s.orderIDs(ctx, tx)
			if err != nil {
				return nil, noLife, err
			}
			b.text = string(encode(nil, b.orders))
			return []jsonBody{b}, life, nil
		},
		indexed: true,
		shared:  true,
		learn:   s.creations.learn,
	}
}

// orderIDs is a body, without its text, about the orders of a transaction in log order: about none, and all chains,
// when there are no orders. Here a transaction that no chain knows is one that has created no order so far: clients
// of these paths come again until the list is not empty. What chains did not answer is said beside it.
func (s *Server) orderIDs(ctx context.Context, tx chain.TxHash) (b jsonBody, life cache.Life, err error) {
	orders, searched, err := s.ordersOf(ctx, tx)
	if unheard, is := errors.AsType[*index.UnheardError](err); is {
		return jsonBody{basis: searched, unheard: unheard.Chains}, noLife, nil
	}
	if errors.Is(err, order.ErrNotFound) || errors.Is(err, order.ErrNoOrder) {
		return jsonBody{basis: searched}, unknownLife, nil
	}
	if err != nil {
		return jsonBody{}, noLife, err
	}
	b.basis, b.final = orders[0].Basis, true
	for _, o := range orders {
		b.orders = append(b.orders, o.ID)
		b.basis, b.final = b.basis.And(o.Basis), b.final && isFinal(o.Order)
	}
	return b, lifeOf(orders), nil
}
