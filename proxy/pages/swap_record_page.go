package pages

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/chain"
	"crossgate/order/index"
	"crossgate/proxy"
	"crossgate/proxy/orders"
	"crossgate/proxy/wire"
	"crossgate/token"
)

// swapTxPage shows a swap that a transaction made.
func (s *Pages) swapTxPage(c *gin.Context) {
	q, err := orders.ParseSwapOf(s.chains, c.Param("id"), c.Param("hash"), c.Request.URL.RawQuery)
	if err != nil {
		s.server.FailPage(c, err)
		return
	}
	found, from, err := s.orders.SwapTxRoute().Ask(s.server.WithPayer(c, proxy.SearchCost), s.server, q)
	if err != nil {
		s.server.FailPage(c, err)
		return
	}
	where := "/" + q.Chain.String() + "/tx/" + q.Tx.String()
	shown := SwapRecord{Path: "/api/SameChainSwap" + where, Page: "/swap" + where, Index: q.Index, Count: len(from.Value.Bodies)}
	if q.Index > 0 {
		shown.Path += "?index=" + strconv.Itoa(q.Index)
	}
	s.writeSwapPage(c, shown, found)
}

// swapIDPage shows the swap with an id.
func (s *Pages) swapIDPage(c *gin.Context) {
	id, err := chain.ParseHash(c.Param("id"))
	if err != nil {
		s.server.FailPage(c, proxy.MalformedSwapID.From(err))
		return
	}
	found, _, err := s.orders.SwapIDRoute().Ask(s.server.WithPayer(c, proxy.SearchCost), s.server, id)
	if err != nil {
		s.server.FailPage(c, err)
		return
	}
	s.writeSwapPage(c, SwapRecord{Path: "/api/SameChainSwap/" + id.String(), Page: "/swap/" + id.String()}, found)
}

func (s *Pages) writeSwapPage(c *gin.Context, shown SwapRecord, found *proxy.Body) {
	record := found.Value.(wire.SwapRecord)
	shown.Record, shown.JSON, shown.Final, shown.Read = &record, found.Text, found.Final, found.Basis.Chains
	id, made := record.Swap.At.Chain, record.Swap.Fact
	shown.In, shown.Out = s.pricesOf(c.Request.Context(), token.Key{Chain: id, Address: made.TokenIn}, token.Key{Chain: id, Address: made.TokenOut})
	shown.Origin, shown.Now = originOf(c.Request), time.Now()
	s.server.WritePage(c, http.StatusOK, func(to io.Writer) error { return s.pages.SwapRecord(to, shown) })
}

// swapNamed returns the path of the page of an indexed swap that a text names by its id or its transaction: whoever
// tracks something need not know what it was; empty for none.
func (s *Pages) swapNamed(ctx context.Context, text string) (path string, err error) {
	listed, _, err := s.orders.Options.Swaps.ListSwaps(ctx, index.Filter{Search: orders.ParseSearch(text)}, 0, 1)
	if err != nil || len(listed.Swaps) == 0 {
		return "", err
	}
	made := listed.Swaps[0]
	if id, err := chain.ParseHash(text); err == nil && made.ID == id {
		return "/swap/" + url.PathEscape(text), nil
	}
	return "/swap/" + made.At.Chain.String() + "/tx/" + made.At.Tx.String(), nil
}
