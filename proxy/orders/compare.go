package orders

import (
	"context"

	"crossgate/chain"
	"crossgate/proxy"
	"crossgate/proxy/shadow"
)

// ComparedOrder is what came of comparing the answers about one order.
type ComparedOrder struct {
	Path        string // that was asked
	Status      int    // of our answer
	Differences []shadow.Difference
}

// Compare compares what is answered here about an order with what a host of the shadow's origins answers now. The order
// is named by the hash of its creation or by its id, which look the same on EVM chains.
func (s *Orders) Compare(ctx context.Context, host, hash string) (c ComparedOrder, err error) {
	tx, err := ParseTxHash(hash, proxy.Tracking)
	if err != nil {
		return c, err
	}
	byTx, byID := s.OrdersRoute(), s.OrderRoute()
	c.Path = "/api/Orders/creationTxHash/" + tx.String()
	chosen, _, err := byTx.Ask(ctx, s.server, Creation{Tx: tx})
	if id, parseErr := chain.ParseHash(tx.String()); parseErr == nil && IsMissing(err) {
		if found, _, errByID := byID.Ask(ctx, s.server, id); !proxy.IsKind(errByID, proxy.UnknownOrder) {
			c.Path, err = "/api/Orders/"+tx.String(), errByID
			c.Status, c.Differences, err = byID.CompareWith(ctx, s.server, host, c.Path, textOfBody(found), err)
			return c, err
		}
	}
	c.Status, c.Differences, err = byTx.CompareWith(ctx, s.server, host, c.Path, textOfBody(chosen), err)
	return c, err
}

func textOfBody(b *proxy.Body) string {
	if b == nil {
		return ""
	}
	return b.Text
}
