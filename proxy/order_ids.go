package proxy

import (
	"context"
	"errors"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order"
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
		load: func(ctx context.Context, tx chain.TxHash) ([]page, cache.Life, error) {
			p, life, err := s.orderIDs(ctx, tx)
			if err != nil {
				return nil, noLife, err
			}
			p.body = string(encode(nil, p.orders))
			return []page{p}, life, nil
		},
		indexed: true,
		shared:  true,
		learn:   s.creations.learn,
	}
}

// orderIDs is a page, without its body, about the orders of a transaction in log order: about none, and all chains,
// when there are no orders. Here a transaction that no chain knows is one that has created no order so far: clients
// of these paths come again until the list is not empty.
func (s *Server) orderIDs(ctx context.Context, tx chain.TxHash) (p page, life cache.Life, err error) {
	orders, searched, err := s.ordersOf(ctx, tx)
	if errors.Is(err, order.ErrNotFound) || errors.Is(err, order.ErrNoOrder) {
		return page{basis: searched}, unknownLife, nil
	}
	if err != nil {
		return page{}, noLife, err
	}
	p.basis, p.final = orders[0].Basis, true
	for _, o := range orders {
		p.orders = append(p.orders, o.ID)
		p.basis, p.final = p.basis.And(o.Basis), p.final && isFinal(o.Order)
	}
	return p, lifeOf(orders), nil
}
