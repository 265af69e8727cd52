package proxy

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/chain"
	"crossgate/order/list"
	"crossgate/proxy/web"
)

// swapTxPage shows a swap that a transaction made.
func (s *Server) swapTxPage(c *gin.Context) {
	q, err := parseSwapOf(s.options.Chains, c.Param("id"), c.Param("hash"), c.Request.URL.RawQuery)
	if err != nil {
		s.failPage(c, err)
		return
	}
	found, from, err := s.swapTxRoute().ask(s.withPayer(c, searchCost), s, q)
	if err != nil {
		s.failPage(c, err)
		return
	}
	where := "/" + q.chain.String() + "/tx/" + q.tx.String()
	shown := web.SwapRecord{Path: "/api/SameChainSwap" + where, Page: "/swap" + where, Index: q.index, Count: len(from.Value.bodies)}
	if q.index > 0 {
		shown.Path += "?index=" + strconv.Itoa(q.index)
	}
	s.writeSwapPage(c, shown, found)
}

// swapIDPage shows the swap with an id.
func (s *Server) swapIDPage(c *gin.Context) {
	id, err := chain.ParseHash(c.Param("id"))
	if err != nil {
		s.failPage(c, malformedSwapID.from(err))
		return
	}
	found, _, err := s.swapIDRoute().ask(s.withPayer(c, searchCost), s, id)
	if err != nil {
		s.failPage(c, err)
		return
	}
	s.writeSwapPage(c, web.SwapRecord{Path: "/api/SameChainSwap/" + id.String(), Page: "/swap/" + id.String()}, found)
}

func (s *Server) writeSwapPage(c *gin.Context, shown web.SwapRecord, found *jsonBody) {
	shown.Record, shown.Final, shown.Read = []byte(found.text), found.final, readOf(found.basis)
	in, out := web.SwapSides(shown.Record)
	shown.In, shown.Out = s.pricesOf(c.Request.Context(), in, out)
	shown.Origin, shown.Now = originOf(c.Request), time.Now()
	s.writePage(c, http.StatusOK, func(to io.Writer) error { return s.pages.SwapRecord(to, shown) })
}

// swapNamed returns the path of the page of an indexed swap that a text names by its id or its transaction: whoever
// tracks something need not know what it was; empty for none.
func (s *Server) swapNamed(ctx context.Context, text string) (path string, err error) {
	listed, _, err := s.options.Orders.List(ctx, list.Swaps, list.Filter{Search: parseSearch(text)}, 0, 1)
	if err != nil || len(listed.Items) == 0 {
		return "", err
	}
	made := listed.Items[0].Swap
	if id, err := chain.ParseHash(text); err == nil && made.ID == id {
		return "/swap/" + url.PathEscape(text), nil
	}
	return "/swap/" + made.At.Chain.String() + "/tx/" + made.At.Tx.String(), nil
}
