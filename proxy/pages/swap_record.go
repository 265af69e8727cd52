package pages

import (
	"cmp"
	"context"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/list"
	"crossgate/proxy"
	"crossgate/proxy/orders"
	"crossgate/proxy/web"
	"crossgate/proxy/wire"
	"crossgate/token"
)

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
	shown.Origin, shown.Now = OriginOf(c.Request), time.Now()
	s.server.WritePage(c, http.StatusOK, func(to io.Writer) error { return s.pages.SwapRecord(to, shown) })
}

// swapNamed returns the path of the page of an indexed swap by its id or transaction, empty if there is none.
func (s *Pages) swapNamed(ctx context.Context, text string) (path string, err error) {
	listed, _, err := s.orders.Options().Orders.List(ctx, list.Swaps, list.Filter{Search: orders.ParseSearch(text)}, 0, 1)
	if err != nil || len(listed.Items) == 0 {
		return "", err
	}
	made := listed.Items[0].Swap
	if id, err := chain.ParseHash(text); err == nil && made.ID == id {
		return "/swap/" + url.PathEscape(text), nil
	}
	return "/swap/" + made.At.Chain.String() + "/tx/" + made.At.Tx.String(), nil
}

// SwapRecord is the content of the page of a swap made within a chain.
type SwapRecord struct {
	Record *wire.SwapRecord
	JSON   string
	Path   string             // of the record in the API, with its query
	Page   string             // path of this page, without a query
	Final  bool               // no reorg can change the record any more
	Read   []order.ChainBasis // the swap's chain
	Index  int                // of the swap in its transaction
	Count  int                // swaps of the transaction; zero if the swap was found by its id

	In, Out *big.Rat // current prices of a whole token in USD; nil if unknown

	Origin string // scheme and host of this server, for commands to copy
	Now    time.Time
}

type swapRecordView struct {
	SwapRecord
	ID      string
	Chain   string
	In, Out sideView
	Made    transaction
	Facts   []Fact
	Proof   []fieldSource
}

// SwapRecord writes the page of a swap that was made.
func (p *Views) SwapRecord(to io.Writer, s SwapRecord) error {
	made, fact := s.Record.Swap, s.Record.Swap.Fact
	id := made.At.Chain
	v := swapRecordView{
		SwapRecord: s, ID: made.ID.String(), Chain: p.ChainName(id),
		In: p.sideOf(id, fact.TokenIn, fact.AmountIn, s.Record.In), Out: p.sideOf(id, fact.TokenOut, fact.Received(), s.Record.Out),
		Made: p.transactionAt(id, &made.At, s.Now), Facts: p.swapFacts(s.Record), Proof: []fieldSource{p.fieldSource("everything", &made.At, s.Read)},
	}
	v.JSON = Indented([]byte(s.JSON))
	v.In.Worth = worthNow(fact.AmountIn.Units(s.Record.In.Decimals), s.In)
	v.Out.Worth = worthNow(fact.Received().Units(s.Record.Out.Decimals), s.Out)
	return p.Write(to, "swap_record", web.View{
		Title: "Swap " + web.Short(v.ID), At: "order", Says: v.In.text() + " swapped for " + v.Out.Amount.Text + " " + v.Out.Token.Symbol,
		Root: s.Origin, Now: s.Now, Page: v,
	})
}

func (p *Views) swapFacts(r *wire.SwapRecord) []Fact {
	id, made := r.Swap.At.Chain, r.Swap.Fact
	out := func(a chain.Amount) string { return AmountOf(a, r.Out).Exact + " " + r.Out.Symbol }
	in, received := made.AmountIn.Units(r.In.Decimals), made.Received().Units(r.Out.Decimals)
	facts := []Fact{
		{Name: "Swap id", Text: r.Swap.ID.String(), IsID: true},
		p.account("Sender", id, made.Sender),
		p.account("Recipient", id, made.Recipient),
		{Name: "Rate", Text: cmp.Or(Rate(in, received, r.In.Symbol, r.Out.Symbol), "not known")},
		{Name: "Swapped for", Text: out(made.AmountOut)},
		{Name: "Protocol fee", Text: out(made.Fee)},
	}
	if a := made.Affiliate; a != nil {
		facts = append(facts, Fact{Name: "Affiliate fee", Text: out(a.Amount)})
		if !a.Beneficiary.IsAbsent() {
			facts = append(facts, p.account("Affiliate", id, a.Beneficiary))
		}
	}
	return facts
}
