package orders

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/query"
	"crossgate/proxy"
)

// idRoute answers something of the order with an id.
func (s *Orders) idRoute(path string, d proxy.Dialect, load func(context.Context, order.ID) ([]proxy.Body, cache.Life, error)) proxy.Route[order.ID] {
	return proxy.Route[order.ID]{
		Paths:   []string{path},
		Dialect: d,
		Parse:   func(c *gin.Context) (order.ID, error) { return parseOrderID(c, d) },
		Key:     orderKey,
		Load:    load,
		Indexed: true,
	}
}

// OrderRoute answers what became of the order with an id: the record that its creation's hash leads to.
func (s *Orders) OrderRoute() proxy.Route[order.ID] {
	r := s.idRoute("/api/Orders/:orderId", proxy.Tracking, s.loadOrder)
	r.Streams = "order"
	return r
}

func parseOrderID(c *gin.Context, d proxy.Dialect) (order.ID, error) {
	text := c.Param("orderId")
	id, err := chain.ParseHash(text)
	switch {
	case strings.EqualFold(text, "creationTxHash"): // the other path, and no hash behind it
		return order.ID{}, d.Malformed(proxy.MalformedHash, err)
	case err != nil:
		return order.ID{}, d.Malformed(proxy.MalformedOrderID, err)
	}
	return id, nil
}

func orderKey(path string, id order.ID) cache.Key { return cache.KeyOf(path, id[:]) }

// bodyOf is the body of an answer about one order.
func bodyOf(text []byte, o query.Found) proxy.Body {
	return proxy.Body{Text: string(text), Orders: []order.ID{o.ID}, Basis: o.Basis, Final: isFinal(o.Order)}
}

func (s *Orders) loadOrder(ctx context.Context, id order.ID) ([]proxy.Body, cache.Life, error) {
	o, err := s.orderByID(ctx, id)
	if err != nil {
		return nil, proxy.NoLife, unknown(err, proxy.UnknownOrder, o.Basis)
	}
	return s.encodeOrders(ctx, []query.Found{o})
}

// unknown is the problem of an order that was not found, with what can be found: an id does not say which chain to ask.
func unknown(err error, k proxy.Kind, searched order.Basis) error {
	if !errors.Is(err, order.ErrNotFound) && !errors.Is(err, order.ErrNoOrder) {
		return err
	}
	if k == proxy.UnknownStatus { // whose clients know the text
		return proxy.Searched(k.Because(""), searched)
	}
	return proxy.Searched(k.Because(k.Text+" As of now "+indexed(searched)), searched)
}

// indexed says how far the index had read.
func indexed(searched order.Basis) string {
	var unread []chain.ID
	var behind []uint64
	for _, c := range searched.Chains {
		switch {
		case c.Head == 0 || c.Indexed == 0:
			unread = append(unread, c.Chain)
		case c.Indexed < c.Head:
			behind = append(behind, c.IndexedTime)
		}
	}
	const byHash = "; orders from before it began are found by the hash of their creation transaction"
	if len(unread) == len(searched.Chains) {
		return "the index has not read any chain yet" + byHash
	}
	chains, reach := "all chains", "to their newest blocks"
	if len(unread) > 0 {
		chains += " but " + proxy.Joined(unread)
	}
	if len(behind) > 0 {
		reach = "up to " + time.Unix(int64(slices.Min(behind)), 0).UTC().Format(time.RFC3339) + " at least"
	}
	return "the index has read " + chains + " " + reach + byHash
}

// IsMissing reports whether an order was not found by a transaction, as far as that is known.
func IsMissing(err error) bool {
	return proxy.IsKind(err, proxy.UnknownTx, proxy.TxWithoutOrder) || err != nil && len(proxy.ProblemOf(err).Unheard) > 0
}

// mountFaces adds the forms of an order that need nothing but the order.
func (s *Orders) mountFaces() {
	for _, face := range []struct {
		path     string
		dialect  proxy.Dialect
		notFound proxy.Kind
		encode   func([]byte, *order.Order) []byte
	}{
		{"/api/Orders/:orderId/state", proxy.Tracking, proxy.UnknownOrder, s.encoder.AppendState},
		{"/api/Orders/:orderId/liteModel", proxy.Tracking, proxy.UnknownOrder, s.encoder.AppendLite},
		{"/v1.0/dln/order/:orderId", proxy.Swapping, proxy.UnknownStatus, s.encoder.AppendTerms},
		{"/v1.0/dln/order/:orderId/status", proxy.Swapping, proxy.UnknownStatus, s.encoder.AppendStatus},
	} {
		s.idRoute(face.path, face.dialect, func(ctx context.Context, id order.ID) ([]proxy.Body, cache.Life, error) {
			o, err := s.orderByID(ctx, id)
			if err != nil {
				return nil, proxy.NoLife, unknown(err, face.notFound, o.Basis)
			}
			return []proxy.Body{bodyOf(face.encode(nil, o.Order), o)}, lifeOf([]query.Found{o}), nil
		}).Mount(s.server)
	}
	s.createdRoute("/api/Transaction/:hash/orderIds", proxy.Tracking, idsIn(s.encoder.AppendOrderIDs)).Mount(s.server)
	s.createdRoute("/api/Transaction/:hash/liteModels", proxy.Tracking, s.encoder.AppendLiteModels).Mount(s.server)
	s.createdRoute("/v1.0/dln/tx/:hash/order-ids", proxy.Swapping, idsIn(s.encoder.AppendOrderIDTexts)).Mount(s.server)
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
		Learn:   s.creations.learn,
		Sought:  func(tx chain.TxHash) chain.TxHash { return tx },
	}
}

// ordersCreated returns the orders of a transaction in log order and a body about them, without its text: about none,
// and all chains, without orders. Here a transaction that no chain knows is one that has created no order so
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
