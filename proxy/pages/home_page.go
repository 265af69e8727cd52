package pages

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"reflect"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/proxy"
	"crossgate/proxy/orders"
)

// homeAges is after how long a start page that is followed is sent again though there is no new order: ages and blocks
// have gone on.
const homeAges = 10 * time.Second

// homePage shows the start page, and is also the event stream that keeps it up to date: as long as somebody looks at
// it, it costs them one request.
func (s *Pages) homePage(c *gin.Context) {
	if proxy.WantsStream(c.Request) {
		s.server.ServeStream(c, proxy.Tracking, s.streamHome)
		return
	}
	home := s.home(c.Request.Context())
	home.Origin = originOf(c.Request)
	s.server.WritePage(c, http.StatusOK, func(to io.Writer) error { return s.pages.Home(to, home) })
}

// home is what the start page has to show now.
func (s *Pages) home(ctx context.Context) Home {
	now := time.Now()
	home, basis := Home{Chains: s.swaps.Serving(), Now: now}, s.server.Options.Index.Basis()
	home.Orders = s.newest(ctx, orders.Part{Take: mostNewest, Mode: orders.CrossChain})
	home.Swaps = s.newest(ctx, orders.Part{Take: mostNewest, Mode: orders.SameChain})
	for _, c := range basis.Chains {
		row := Indexed{Chain: c.Chain, Block: c.Indexed}
		if c.Indexed > 0 {
			row.Lag = c.Age(now)
			row.Late = basis.IsBehind(&c, row.Lag)
			row.From, row.Since = c.From.Number, time.Unix(int64(c.From.Time), 0)
			row.Proven, row.Quarantined = c.Proven, c.Quarantined.Count
		}
		home.Indexed = append(home.Indexed, row)
	}
	return home
}

// streamHome sends the whole start page, event "page", now, whenever an order or a swap is new or has another state,
// and when its ages are old.
func (s *Pages) streamHome(ctx context.Context, c *gin.Context) {
	events, look := proxy.OpenEvents(c), time.NewTicker(proxy.StreamInterval)
	defer look.Stop()
	var sent Home
	for !events.Broken {
		home := s.home(ctx)
		if ctx.Err() != nil {
			return
		}
		if !reflect.DeepEqual([2]*orders.Listed{home.Orders, home.Swaps}, [2]*orders.Listed{sent.Orders, sent.Swaps}) || home.Now.Sub(sent.Now) >= homeAges {
			var page bytes.Buffer
			if err := s.pages.Home(&page, home); err != nil {
				_ = c.Error(err) // for the log
				return
			}
			events.SendJSON("page", page.String())
			sent = home
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return
		}
	}
}
