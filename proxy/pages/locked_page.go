package pages

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/proxy/orders"
)

// mostDeliveries is how many orders the page of locked assets looks up the deliveries of.
const mostDeliveries = 5000

func (s *Pages) lockedPage(c *gin.Context) {
	ctx := c.Request.Context()
	taker, err := orders.ParseTakerAddress(c)
	if err != nil {
		s.server.FailPage(c, err)
		return
	}
	found, from, err := s.orders.LockedRoute().Ask(ctx, s.server, taker)
	if err != nil {
		s.server.FailPage(c, err)
		return
	}
	ids, err := LockedOrders([]byte(found.Text))
	if err != nil {
		s.server.FailPage(c, err)
		return
	}
	text := c.Param("takerAddress")
	shown := Locked{
		Taker: text, Answer: []byte(found.Text), Gaps: gapsIn(found.Basis, from.Value.Made), Deliveries: s.deliveries(ctx, ids),
		Path: "/api/Satistics/" + url.PathEscape(text) + "/lockedAssets", Origin: originOf(c.Request), Now: time.Now(),
	}
	s.server.WritePage(c, http.StatusOK, func(to io.Writer) error { return s.pages.Locked(to, shown) })
}

// deliveries looks up when orders were delivered, and for what. Without the index the page says less.
func (s *Pages) deliveries(ctx context.Context, texts []string) map[string]Delivery {
	ctx, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	var ids []order.ID
	for _, text := range texts[:min(len(texts), mostDeliveries)] {
		if id, err := chain.ParseHash(text); err == nil {
			ids = append(ids, id)
		}
	}
	known, err := s.options.Details.Deliveries(ctx, ids)
	if err != nil {
		return nil
	}
	deliveries := make(map[string]Delivery, len(known))
	for id, d := range known {
		deliveries[id.String()] = Delivery{
			At: time.Unix(int64(d.At), 0), Units: d.Give.String(), IsSent: d.State == order.StateSentUnlock,
		}
	}
	return deliveries
}
