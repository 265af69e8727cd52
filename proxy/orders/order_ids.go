package orders

import (
	"context"
	"errors"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order"
	"crossgate/proxy"
)

// orderIDsRoute answers which orders a transaction created, in the words of the tracking API.
func (s *Orders) orderIDsRoute() proxy.Route[chain.TxHash] {
	return s.createdRoute("/api/Transaction/:hash/orderIds", proxy.Tracking, idsIn(s.encoder.AppendOrderIDs))
}

// liteModelsRoute answers the orders themselves, in the shorter of the tracking API's two forms.
func (s *Orders) liteModelsRoute() proxy.Route[chain.TxHash] {
	return s.createdRoute("/api/Transaction/:hash/liteModels", proxy.Tracking, s.encoder.AppendLiteModels)
}

// orderIDTextsRoute answers the same in the words of the swap API.
func (s *Orders) orderIDTextsRoute() proxy.Route[chain.TxHash] {
	return s.createdRoute("/v1.0/dln/tx/:hash/order-ids", proxy.Swapping, idsIn(s.encoder.AppendOrderIDTexts))
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
func (s *Orders) createdRoute(path string, d proxy.Dialect, encode func([]byte, []*order.Order) []byte) proxy.Route[chain.TxHash] {
	return proxy.Route[chain.TxHash]{
		Paths:   []string{path},
		Dialect: d,
		Limit:   s.limit,
		Parse:   func(c *gin.Context) (chain.TxHash, error) { return ParseTxHash(c.Param("hash"), d) },
		Key:     txKey,
		Load: func(ctx context.Context, tx chain.TxHash) ([]proxy.Body, cache.Life, error) {
			b, orders, life, err := s.ordersCreated(ctx, tx)
			if err != nil {
				return nil, proxy.NoLife, err
			}
			b.Text = string(encode(nil, orders))
			return []proxy.Body{b}, life, nil
		},
		Indexed: true,
		Shared:  true,
		Learn:   s.creations.learn,
		Sought:  func(tx chain.TxHash) chain.TxHash { return tx },
	}
}

// ordersCreated returns the orders of a transaction in log order and a body about them, without its text: about none,
// and all chains, when there are no orders. Here a transaction that no chain knows is one that has created no order so
// far: clients of these paths come again until the list is not empty.
func (s *Orders) ordersCreated(ctx context.Context, tx chain.TxHash) (b proxy.Body, orders []*order.Order, life cache.Life, err error) {
	found, searched, err := s.ordersOf(ctx, tx)
	if errors.Is(err, order.ErrNotFound) || errors.Is(err, order.ErrNoOrder) {
		return proxy.Body{Basis: searched}, nil, proxy.UnknownLife, nil
	}
	if err != nil {
		return proxy.Body{}, nil, proxy.NoLife, err
	}
	b.Basis, b.Final = found[0].Basis, true
	for _, o := range found {
		orders, b.Orders = append(orders, o.Order), append(b.Orders, o.ID)
		b.Basis, b.Final = b.Basis.And(o.Basis), b.Final && isFinal(o.Order)
	}
	return b, orders, lifeOf(found), nil
}
