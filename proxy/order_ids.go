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
func (s *Orders) orderIDsRoute() route[chain.TxHash] {
	return s.createdRoute("/api/Transaction/:hash/orderIds", tracking, idsIn(s.encoder.AppendOrderIDs))
}

// liteModelsRoute answers the orders themselves, in the shorter of the tracking API's two forms.
func (s *Orders) liteModelsRoute() route[chain.TxHash] {
	return s.createdRoute("/api/Transaction/:hash/liteModels", tracking, s.encoder.AppendLiteModels)
}

// orderIDTextsRoute answers the same in the words of the swap API.
func (s *Orders) orderIDTextsRoute() route[chain.TxHash] {
	return s.createdRoute("/v1.0/dln/tx/:hash/order-ids", swapping, idsIn(s.encoder.AppendOrderIDTexts))
}

// idsIn encodes nothing but the ids of orders.
func idsIn(encode func([]byte, []order.ID) []byte) func([]byte, []*order.Order) []byte {
	return func(dst []byte, orders []*order.Order) []byte {
		ids := make([]order.ID, len(orders))
		for i, o := range orders {
			ids[i] = o.ID
		}
		return encode(dst, ids)
	}
}

// createdRoute answers something of all orders that a transaction created, in log order.
func (s *Orders) createdRoute(path string, d dialect, encode func([]byte, []*order.Order) []byte) route[chain.TxHash] {
	return route[chain.TxHash]{
		paths:   []string{path},
		dialect: d,
		limit:   s.limit,
		parse:   func(c *gin.Context) (chain.TxHash, error) { return parseTxHash(c.Param("hash"), d) },
		key:     txKey,
		load: func(ctx context.Context, tx chain.TxHash) ([]jsonBody, cache.Life, error) {
			b, orders, life, err := s.ordersCreated(ctx, tx)
			if err != nil {
				return nil, noLife, err
			}
			b.text = string(encode(nil, orders))
			return []jsonBody{b}, life, nil
		},
		indexed: true,
		shared:  true,
		learn:   s.creations.learn,
		sought:  func(tx chain.TxHash) chain.TxHash { return tx },
	}
}

// ordersCreated returns the orders of a transaction in log order and a body about them, without its text: about none,
// and all chains, when there are no orders. Here a transaction that no chain knows is one that has created no order so
// far: clients of these paths come again until the list is not empty.
func (s *Orders) ordersCreated(ctx context.Context, tx chain.TxHash) (b jsonBody, orders []*order.Order, life cache.Life, err error) {
	found, searched, err := s.ordersOf(ctx, tx)
	if errors.Is(err, order.ErrNotFound) || errors.Is(err, order.ErrNoOrder) {
		return jsonBody{basis: searched}, nil, unknownLife, nil
	}
	if err != nil {
		return jsonBody{}, nil, noLife, err
	}
	b.basis, b.final = found[0].Basis, true
	for _, o := range found {
		orders, b.orders = append(orders, o.Order), append(b.orders, o.ID)
		b.basis, b.final = b.basis.And(o.Basis), b.final && isFinal(o.Order)
	}
	return b, orders, lifeOf(found), nil
}
