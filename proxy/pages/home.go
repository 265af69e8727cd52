package pages

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"reflect"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/proxy"
	"crossgate/proxy/orders"
	"crossgate/proxy/web"
)

// homeAges is after how long a start page that is followed is sent again without a new order: ages and blocks
// have gone on.
const homeAges = 10 * time.Second

// homePage shows the start page, and is also the event stream that keeps it up to date: while it is open,
// it costs its client one request.
func (s *Pages) homePage(c *gin.Context) {
	if proxy.WantsStream(c.Request) {
		s.server.ServeStream(c, proxy.Tracking, s.streamHome)
		return
	}
	home := s.home(c.Request.Context())
	home.Origin = OriginOf(c.Request)
	s.server.WritePage(c, http.StatusOK, func(to io.Writer) error { return s.pages.Home(to, home) })
}

// home is what the start page has to show now.
func (s *Pages) home(ctx context.Context) Home {
	now := time.Now()
	home := Home{Chains: s.swaps.Serving(), Basis: s.server.Options.Index.Basis(), Now: now}
	home.Orders = s.newest(ctx, orders.Part{Take: mostNewest, Mode: orders.CrossChain})
	home.Swaps = s.newest(ctx, orders.Part{Take: mostNewest, Mode: orders.SameChain})
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

// Home is the content of the start page.
type Home struct {
	Chains []chain.Chain // on which swaps are supported
	Basis  order.Basis
	Orders *orders.Listed // the newest; nil: they cannot be listed at the moment
	Swaps  *orders.Listed // the newest within a chain; nil likewise
	Origin string         // scheme and host of this server, for previews of a link to it
	Now    time.Time
}

// Late reports whether the index is behind a chain.
func (h Home) Late(c order.ChainBasis) bool { return h.Basis.IsBehind(&c, c.Age(h.Now)) }

type homeView struct {
	Home
	Recent   []listed
	Examples []example
}

// example is something to search for that is there.
type example struct{ What, Text string }

// mostRecent is how many orders and swaps the start page shows.
const mostRecent = 12

// Home writes the start page.
func (p *Views) Home(to io.Writer, h Home) error {
	rows := p.rows(h.Orders, h.Swaps)
	v := homeView{Home: h, Examples: examplesOf(rows, h.Chains), Recent: rows[:min(len(rows), mostRecent)]}
	return p.Write(to, "home", web.View{Title: "Crossgate", At: "home", Root: h.Origin, Now: h.Now, Page: v})
}

// examplesOf are one of each kind of what can be searched for.
func examplesOf(rows []listed, chains []chain.Chain) []example {
	var all []example
	for _, isSwap := range []bool{false, true} {
		at := slices.IndexFunc(rows, func(r listed) bool { return r.IsSwap == isSwap })
		switch {
		case at < 0:
		case isSwap:
			all = append(all, example{"a swap", rows[at].ID})
		default:
			all = append(all, example{"an order", rows[at].ID}, example{"a token", rows[at].Give.Token.Symbol})
		}
	}
	if len(chains) > 0 {
		all = append(all, example{"a chain", chains[0].Name})
	}
	return slices.DeleteFunc(all, func(e example) bool { return e.Text == "" })
}
