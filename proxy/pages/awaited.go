package pages

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/proxy"
	"crossgate/proxy/orders"
	"crossgate/proxy/web"
)

type sought struct {
	order Order
	swap  string // path of a swap's page; empty if it is an order
}

// seek finds an order, or else a swap, by its transaction or id: visitors need not know which it is.
func (s *Pages) seek(ctx context.Context, text, rawQuery string) (sought, error) {
	shown, err := s.findForPage(ctx, text, rawQuery)
	if orders.IsMissing(err) || proxy.IsKind(err, proxy.UnknownOrder) {
		path, errOfSwap := s.swapNamed(ctx, text)
		if path != "" {
			return sought{swap: path}, nil
		}
		if errOfSwap != nil {
			err = errOfSwap
		}
	}
	return sought{order: shown}, err
}

// isAwaited reports whether a retry may find the order or swap.
func isAwaited(err error) bool {
	return orders.IsMissing(err) && !proxy.IsKind(err, proxy.TxWithoutOrder)
}

// awaitedPage shows the requested id and the chains searched, and reloads until the order is found.
func (s *Pages) awaitedPage(c *gin.Context, err error) {
	p, text := proxy.ProblemOf(err), c.Param("hash")
	shown := Awaited{ID: p.ID, Text: text, Now: time.Now()}
	_, notHash := chain.ParseHash(text)
	shown.IsHash = notHash == nil
	tx, _ := chain.ParseTxHash(text) // only a hash is awaited
	var search *proxy.SearchError
	if errors.As(err, &search) {
		for _, each := range search.Basis.Chains {
			if !each.Followed {
				continue
			}
			shown.Searched = append(shown.Searched, Searched{
				Chain: each.Chain, Block: each.Indexed, IsUnheard: slices.Contains(p.Unheard, each.Chain),
				IsForeign: !slices.Contains(tx.Families(), s.chains.Family(each.Chain)),
			})
		}
	}
	p.Explain(c.Writer.Header())
	s.server.WritePage(c, p.Status, func(to io.Writer) error { return s.pages.Awaited(to, shown) })
}

// searchedFor adds to an error how far was searched.
func searchedFor(err error, searched order.Basis) error {
	var known *proxy.SearchError
	if err == nil || errors.As(err, &known) || len(searched.Chains) == 0 {
		return err
	}
	return proxy.Searched(err, searched)
}

// Awaited is an order or a swap that has not been found yet.
type Awaited struct {
	ID       string // of the problem, for programs
	Text     string // as in the request
	IsHash   bool   // 32 bytes, and so perhaps an order's or a swap's id
	Searched []Searched
	Now      time.Time
}

// Searched is a chain that was searched.
type Searched struct {
	Chain     chain.ID
	Block     uint64 // newest indexed block; 0 if none yet
	IsUnheard bool   // the chain did not answer
	IsForeign bool   // its transaction hashes have another form, so it was not asked
}

// Awaited writes the page of an order or a swap that has not been found yet.
func (p *Views) Awaited(to io.Writer, a Awaited) error {
	return p.Write(to, "awaited", web.View{Title: "Waiting for " + web.Short(a.Text), At: "order", Now: a.Now, Page: a})
}
