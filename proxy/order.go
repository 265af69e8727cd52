package proxy

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
)

// orderRoute answers what became of the order with an id: the record that its creation's hash leads to.
func (s *Orders) orderRoute() route[order.ID] {
	return route[order.ID]{
		paths:   []string{"/api/Orders/:orderId"},
		dialect: tracking,
		limit:   s.limit,
		parse:   func(c *gin.Context) (order.ID, error) { return parseOrderID(c, tracking) },
		key:     orderKey,
		load:    s.loadOrder,
		indexed: true,
		shared:  true,
		streams: "order",
	}
}

func parseOrderID(c *gin.Context, d dialect) (order.ID, error) {
	text := c.Param("orderId")
	id, err := chain.ParseHash(text)
	switch {
	case strings.EqualFold(text, "creationTxHash"): // the other path, and no hash behind it
		return order.ID{}, d.malformed(malformedHash, err)
	case err != nil:
		return order.ID{}, d.malformed(malformedOrderID, err)
	}
	return id, nil
}

func orderKey(path string, id order.ID) cache.Key { return cache.KeyOf(path, id[:]) }

// bodyOf is the body of an answer about one order.
func bodyOf(text []byte, o index.Found) jsonBody {
	return jsonBody{text: string(text), orders: []order.ID{o.ID}, basis: o.Basis, final: isFinal(o.Order)}
}

func (s *Orders) loadOrder(ctx context.Context, id order.ID) ([]jsonBody, cache.Life, error) {
	o, err := s.orderByID(ctx, id)
	if err != nil {
		return nil, noLife, unknown(err, unknownOrder, o.Basis)
	}
	records, life, err := s.encodeOrders(ctx, []index.Found{o})
	if err != nil {
		return nil, noLife, err
	}
	return []jsonBody{bodyOf(records[0], o)}, life, nil
}

// unknown tells a client whose order was not found what can be found: an id does not say which chain to ask.
func unknown(err error, k kind, searched index.Basis) error {
	if !errors.Is(err, order.ErrNotFound) && !errors.Is(err, order.ErrNoOrder) {
		return err
	}
	if k == unknownStatus { // whose clients know the text
		return &searchError{k.because(""), searched}
	}
	return &searchError{k.because(k.text + " As of now " + indexed(searched)), searched}
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
		chains += " but " + joined(unread)
	}
	if len(behind) > 0 {
		reach = "up to " + time.Unix(int64(slices.Min(behind)), 0).UTC().Format(time.RFC3339) + " at least"
	}
	return "the index has read " + chains + " " + reach + byHash
}

// isMissing reports whether an order was not found by a transaction, as far as that is known.
func isMissing(err error) bool {
	return isKind(err, unknownTx, txWithoutOrder) || err != nil && len(problemOf(err).unheard) > 0
}
