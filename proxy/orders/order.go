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
	"crossgate/order/index"
	"crossgate/proxy"
)

// OrderRoute answers what became of the order with an id: the record that its creation's hash leads to.
func (s *Orders) OrderRoute() proxy.Route[order.ID] {
	return proxy.Route[order.ID]{
		Paths:   []string{"/api/Orders/:orderId"},
		Dialect: proxy.Tracking,
		Limit:   s.limit,
		Parse:   func(c *gin.Context) (order.ID, error) { return parseOrderID(c, proxy.Tracking) },
		Key:     orderKey,
		Load:    s.loadOrder,
		Indexed: true,
		Shared:  true,
		Streams: "order",
	}
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
func bodyOf(text []byte, o index.Found) proxy.Body {
	return proxy.Body{Text: string(text), Orders: []order.ID{o.ID}, Basis: o.Basis, Final: isFinal(o.Order)}
}

func (s *Orders) loadOrder(ctx context.Context, id order.ID) ([]proxy.Body, cache.Life, error) {
	o, err := s.orderByID(ctx, id)
	if err != nil {
		return nil, proxy.NoLife, unknown(err, proxy.UnknownOrder, o.Basis)
	}
	return s.encodeOrders(ctx, []index.Found{o})
}

// unknown tells a client whose order was not found what can be found: an id does not say which chain to ask.
func unknown(err error, k proxy.Kind, searched index.Basis) error {
	if !errors.Is(err, order.ErrNotFound) && !errors.Is(err, order.ErrNoOrder) {
		return err
	}
	if k == proxy.UnknownStatus { // whose clients know the text
		return proxy.Searched(k.Because(""), searched)
	}
	return proxy.Searched(k.Because(k.Text+" As of now "+indexed(searched)), searched)
}

// indexed says how far the index had read.
func indexed(searched index.Basis) string {
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
