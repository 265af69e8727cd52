package pages

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/gin-gonic/gin"

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
	locked := found.Value.(orders.Locked)
	var ids []order.ID
	for _, each := range locked.Chains {
		for _, t := range each.Tokens {
			for _, target := range t.Targets {
				ids = append(ids, target.Orders...)
			}
		}
	}
	text := c.Param("takerAddress")
	shown := Locked{
		Taker: text, Answer: &locked, JSON: found.Text, Gaps: gapsIn(found.Basis, from.Value.Made), Deliveries: s.deliveries(ctx, ids),
		Path: "/api/Satistics/" + url.PathEscape(text) + "/lockedAssets", Origin: originOf(c.Request), Now: time.Now(),
	}
	s.server.WritePage(c, http.StatusOK, func(to io.Writer) error { return s.pages.Locked(to, shown) })
}

// deliveries looks up when orders were delivered, and for what. Without the index the page says less.
func (s *Pages) deliveries(ctx context.Context, ids []order.ID) map[order.ID]Delivery {
	ctx, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	known, err := s.options.Details.Deliveries(ctx, ids[:min(len(ids), mostDeliveries)])
	if err != nil {
		return nil
	}
	deliveries := make(map[order.ID]Delivery, len(known))
	for id, d := range known {
		deliveries[id] = Delivery{At: timeOf(d.At), Give: d.Give, IsSent: d.State == order.StateSentUnlock}
	}
	return deliveries
}
