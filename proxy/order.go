package proxy

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order"
)

// orderRoute answers what became of the order with an id: the record that its creation's hash leads to.
func (s *Server) orderRoute() route[order.ID] {
	return route[order.ID]{
		paths:   []string{"/api/Orders/:orderId"},
		dialect: tracking,
		limit:   s.options.OrderLimit,
		parse:   parseOrderID,
		key:     orderKey,
		load:    s.loadOrder,
		indexed: true,
		shared:  true,
		streams: true,
	}
}

// statusRoute answers how far the order with an id has come, in the words of the swap API.
func (s *Server) statusRoute() route[order.ID] {
	return route[order.ID]{
		paths:   []string{"/v1.0/dln/order/:orderId/status"},
		dialect: swapping,
		limit:   s.options.OrderLimit,
		parse:   parseOrderID,
		key:     orderKey,
		load:    s.loadStatus,
		indexed: true,
		shared:  true,
	}
}

func parseOrderID(c *gin.Context) (order.ID, error) {
	id, err := chain.ParseHash(c.Param("orderId"))
	if err != nil {
		return order.ID{}, malformedOrderID.from(err)
	}
	return id, nil
}

func orderKey(path string, id order.ID) cache.Key { return cache.KeyOf(path, id[:]) }

// pageOf is a page about one order.
func (s *Server) pageOf(ctx context.Context, body []byte, o *order.Order) page {
	return page{body: string(body), orders: []order.ID{o.ID}, chains: chainsOf(o), unread: s.unread(ctx, o), final: isFinal(o)}
}

func (s *Server) loadOrder(ctx context.Context, id order.ID) ([]page, cache.Life, error) {
	o, err := s.orderByID(ctx, id)
	if err != nil {
		return nil, noLife, s.unknown(err, unknownOrder)
	}
	bodies, life, err := s.encodeOrders(ctx, []*order.Order{o})
	if err != nil {
		return nil, noLife, err
	}
	return []page{s.pageOf(ctx, bodies[0], o)}, life, nil
}

func (s *Server) loadStatus(ctx context.Context, id order.ID) ([]page, cache.Life, error) {
	o, err := s.orderByID(ctx, id)
	if err != nil {
		return nil, noLife, s.unknown(err, unknownStatus)
	}
	return []page{s.pageOf(ctx, s.encoder.AppendStatus(nil, o), o)}, s.lifeOf([]*order.Order{o}), nil
}

// unknown tells a client whose order was not found what can be found: an id does not say which chain to ask.
func (s *Server) unknown(err error, k kind) error {
	if !errors.Is(err, order.ErrNotFound) && !errors.Is(err, order.ErrNoOrder) {
		return err
	}
	return k.because(k.text + "; " + s.indexed())
}

// indexed says how far the index has read.
func (s *Server) indexed() string {
	var unread []chain.ID
	var behind []uint64
	for id, lag := range s.options.Lag() {
		switch {
		case lag.Head == 0 || lag.Indexed == 0:
			unread = append(unread, id)
		case lag.Indexed < lag.Head:
			behind = append(behind, lag.IndexedTime)
		}
	}
	chains, reach := "all chains", "to their newest blocks"
	if len(unread) > 0 {
		slices.Sort(unread)
		chains += " but " + joined(unread)
	}
	if len(behind) > 0 {
		reach = "up to " + time.Unix(int64(slices.Min(behind)), 0).UTC().Format(time.RFC3339) + " at least"
	}
	return "the index has read " + chains + " " + reach +
		"; orders from before it began are found by the hash of their creation transaction"
}
