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

func (s *Orders) idRoute(path string, d proxy.Dialect, load func(context.Context, order.ID) ([]proxy.Body, cache.Life, error)) proxy.Route[order.ID] {
	return proxy.Route[order.ID]{
		Paths:   []string{path},
		Dialect: d,
		Parse:   func(c *gin.Context) (order.ID, error) { return ParseOrderID(c, d) },
		Key:     orderKey,
		Load:    load,
		Indexed: true,
	}
}

// OrderRoute answers with the record of an order by its id, the same as by its creation's hash.
func (s *Orders) OrderRoute() proxy.Route[order.ID] {
	r := s.idRoute("/api/Orders/:orderId", proxy.Tracking, s.loadOrder)
	r.Follow = followed(s, s.OrderRoute, func(_ context.Context, id order.ID, _ uint64) (order.ID, error) { return id, nil })
	return r
}

// ParseOrderID parses the id in a path.
func ParseOrderID(c *gin.Context, d proxy.Dialect) (order.ID, error) {
	text := c.Param("orderId")
	id, err := chain.ParseHash(text)
	switch {
	case strings.EqualFold(text, "creationTxHash"): // the path of creations, without a hash
		return order.ID{}, d.Malformed(proxy.MalformedHash, err)
	case err != nil:
		return order.ID{}, d.Malformed(proxy.MalformedOrderID, err)
	}
	return id, nil
}

func orderKey(path string, id order.ID) cache.Key { return cache.KeyOf(path, id[:]) }

func bodyOf(text []byte, o query.Found) proxy.Body {
	return proxy.Body{Text: string(text), Orders: []order.ID{o.ID}, Basis: o.Basis, Final: isFinal(o.Order)}
}

func (s *Orders) loadOrder(ctx context.Context, id order.ID) ([]proxy.Body, cache.Life, error) {
	o, err := s.ByID(ctx, id)
	if err != nil {
		return nil, proxy.NoLife, unknown(err, proxy.UnknownOrder, o.Basis)
	}
	return s.encodeOrders(ctx, []query.Found{o})
}

// unknown returns the problem of an order that was not found, with advice: an id does not reveal which chain to ask.
func unknown(err error, k proxy.Kind, searched order.Basis) error {
	if !errors.Is(err, order.ErrNotFound) && !errors.Is(err, order.ErrNoOrder) {
		return err
	}
	if k == proxy.UnknownStatus { // clients expect its exact text
		return proxy.Searched(k.Because(""), searched)
	}
	return proxy.Searched(k.Because(k.Text+" As of now "+indexed(searched)), searched)
}

// indexed describes how far the index had read.
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

// IsMissing reports whether looking up a transaction found no order, as far as the chains that replied know.
func IsMissing(err error) bool {
	return proxy.IsKind(err, proxy.UnknownTx, proxy.TxWithoutOrder) || err != nil && len(proxy.ProblemOf(err).Unheard) > 0
}

// mountFaces adds the representations of an order that need only the order.
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
			o, err := s.ByID(ctx, id)
			if err != nil {
				return nil, proxy.NoLife, unknown(err, face.notFound, o.Basis)
			}
			return []proxy.Body{bodyOf(face.encode(nil, o.Order), o)}, lifeOf([]query.Found{o}), nil
		}).Mount(s.server)
	}
	s.txRoute("/api/Transaction/:hash/orderIds", proxy.Tracking, s.loadIDs(s.encoder.AppendOrderIDs)).Mount(s.server)
	s.txRoute("/api/Transaction/:hash/liteModels", proxy.Tracking, s.loadLiteModels).Mount(s.server)
	s.txRoute("/v1.0/dln/tx/:hash/order-ids", proxy.Swapping, s.loadIDs(s.encoder.AppendOrderIDTexts)).Mount(s.server)
}

// txRoute answers about all orders that a transaction is a step of, those that it created first. An unknown transaction
// answers with an empty list, because clients poll until there are orders.
func (s *Orders) txRoute(
	path string, d proxy.Dialect, load func(context.Context, chain.TxHash) ([]proxy.Body, cache.Life, error),
) proxy.Route[chain.TxHash] {
	return proxy.Route[chain.TxHash]{
		Paths:   []string{path},
		Dialect: d,
		Parse:   func(c *gin.Context) (chain.TxHash, error) { return ParseTxHash(c.Param("hash"), d) },
		Key:     txKey,
		Load:    load,
		Indexed: true,
		Learn:   s.orderTxs.learn,
		Sought:  func(tx chain.TxHash) chain.TxHash { return tx },
	}
}

// isWithout reports whether no order is known that a transaction is a step of.
func isWithout(err error) bool {
	return errors.Is(err, order.ErrNotFound) || errors.Is(err, order.ErrNoOrder)
}

// loadIDs answers with the ids of a transaction's orders, which never change once its block is final.
func (s *Orders) loadIDs(
	encode func([]byte, []order.ID) []byte,
) func(context.Context, chain.TxHash) ([]proxy.Body, cache.Life, error) {
	return func(ctx context.Context, tx chain.TxHash) ([]proxy.Body, cache.Life, error) {
		ids, at, basis, err := s.Options().Orders.IDsIn(ctx, tx)
		b, life := proxy.Body{Text: string(encode(nil, ids)), Orders: ids, Basis: basis, Final: basis.IsFinal()}, proxy.MovingLife
		switch {
		case isWithout(err):
			life = proxy.UnknownLife
		case err != nil:
			return nil, proxy.NoLife, proxy.Searched(err, basis)
		case b.Final && isProven(basis, at.Chain, at.Block):
			life = proxy.SettledLife
		}
		s.orderTxs.remember(tx, ids...)
		return []proxy.Body{b}, life, nil
	}
}

func (s *Orders) loadLiteModels(ctx context.Context, tx chain.TxHash) ([]proxy.Body, cache.Life, error) {
	found, searched, err := s.Options().Orders.FindIn(ctx, tx)
	if err != nil && !isWithout(err) {
		return nil, proxy.NoLife, proxy.Searched(err, searched)
	}
	if err != nil {
		return []proxy.Body{{Text: string(s.encoder.AppendLiteModels(nil, nil)), Basis: searched}}, proxy.UnknownLife, nil
	}
	b, orders := proxy.Body{Basis: found[0].Basis, Final: true}, make([]*order.Order, len(found))
	for i, o := range found {
		orders[i], b.Orders = o.Order, append(b.Orders, o.ID)
		b.Basis, b.Final = b.Basis.And(o.Basis), b.Final && isFinal(o.Order)
	}
	s.orderTxs.remember(tx, b.Orders...)
	b.Text = string(s.encoder.AppendLiteModels(nil, orders))
	return []proxy.Body{b}, lifeOf(found), nil
}
