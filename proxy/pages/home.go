package pages

import (
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/proxy/orders"
	"crossgate/proxy/web"
)

func (s *Pages) homePage(c *gin.Context) {
	ctx := c.Request.Context()
	home := Home{Chains: s.swaps.Serving(), Basis: s.server.Options.Index().Basis(), Origin: OriginOf(c.Request), Now: time.Now()}
	home.Statistics = s.statisticsOf(ctx, orders.LastDays(orders.UsualDays, home.Now), home.Now)
	home.Orders = s.newest(ctx, orders.Part{Take: mostNewest, Mode: orders.CrossChain})
	home.Swaps = s.newest(ctx, orders.Part{Take: mostNewest, Mode: orders.SameChain})
	s.server.WritePage(c, http.StatusOK, func(to io.Writer) error { return s.pages.Home(to, home) })
}

// Home is the content of the start page.
type Home struct {
	Chains     []chain.Chain // on which swaps are supported
	Basis      order.Basis
	Orders     *orders.Listed // the newest; nil if unavailable at the moment
	Statistics Statistics     // of the last days
	Swaps      *orders.Listed // the newest within a chain; nil likewise
	Origin     string         // scheme and host of this server, for previews of a link to it
	Now        time.Time
}

// Late reports whether the index lags behind a chain.
func (h Home) Late(c order.ChainBasis) bool { return h.Basis.IsBehind(&c, c.Age(h.Now)) }

type homeView struct {
	Home
	Month    statisticsView
	Recent   []listed
	Examples []example
}

type example struct{ What, Text string }

const pairsAtHome = 3

// Home writes the start page.
func (p *Views) Home(to io.Writer, h Home) error {
	rows := p.rows(h.Orders, h.Swaps)
	v := homeView{Home: h, Month: p.viewOf(h.Statistics, pairsAtHome), Examples: examplesOf(rows, h.Chains), Recent: rows[:min(len(rows), mostNewest)]}
	return p.Write(to, "home", web.View{Title: "Crossgate", At: "home", Root: h.Origin, Now: h.Now, Page: v})
}

// examplesOf returns one example of each kind of thing that can be searched for.
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
