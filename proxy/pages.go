package proxy

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/index"
	"crossgate/proxy/web"
)

// Details are what the index knows beside what the API answers.
type Details interface {
	// Deliveries returns those of orders that are known as delivered; index.ErrUnavailable when that cannot be known.
	Deliveries(context.Context, []order.ID) (map[order.ID]index.Delivery, error)
	// Values returns what an order's amounts were worth at the time, and whether that was looked up;
	// index.ErrUnavailable when that cannot be known.
	Values(context.Context, order.ID) (v index.Values, counted bool, err error)
	// Transaction returns a transaction of a chain, whole: order.ErrNotFound, *index.UnreachableError.
	Transaction(context.Context, chain.ID, chain.TxHash) (order.Transaction, error)
	// Tellers returns the names of the endpoints that reported a transaction with events, in the block with a hash; none
	// where that is not remembered.
	Tellers(chain.ID, chain.TxHash, chain.Hash) []string
}

// PagesOptions are what pages show beside the answers of the API.
type PagesOptions struct {
	Details Details
	Tokens  interface {
		Names
		Lists
	}
}

// Pages are the HTML pages.
type Pages struct {
	server   *Server
	orders   *Orders
	swaps    *Swaps
	options  PagesOptions
	chains   chain.Registry
	limit    time.Duration
	pages    *web.Pages
	arrivals arrivals
}

// MountPages adds the HTML pages to a server.
func MountPages(server *Server, orders *Orders, swaps *Swaps, options PagesOptions) {
	chains := server.chainRegistry()
	s := &Pages{
		server: server, orders: orders, swaps: swaps, options: options, chains: chains, limit: server.limits().OrderLimit, pages: web.New(chains),
	}
	orders.Watch(s.arrivals.announce)
	orderForm := func(to io.Writer) error { return s.pages.Order(to, web.Order{}) }
	lockedForm := func(to io.Writer) error { return s.pages.Locked(to, web.Locked{}) }
	for path, page := range map[string]struct {
		cost   int
		answer gin.HandlerFunc
	}{
		"/":                     {listCost, s.homePage},
		"/search":               {listCost, s.searchPage},
		"/orders":               {listCost, s.listPage},
		"/order":                {cheapCost, s.formPage("hash", "/order/", orderForm)},
		"/order/:hash":          {cheapCost, s.orderPage},
		"/order/:hash/awaited":  {cheapCost, s.awaitOrder},
		"/locked":               {cheapCost, s.formPage("taker", "/locked/", lockedForm)},
		"/locked/:takerAddress": {swapCost, s.lockedPage},
		"/statistics":           {listCost, s.statisticsPage},
		"/swap":                 {swapCost, s.swapPage},
		"/swap/:id":             {cheapCost, s.swapIDPage},
		"/swap/:id/tx/:hash":    {cheapCost, s.swapTxPage},
		"/docs":                 {listCost, s.referencePage},
		"/docs/":                {listCost, s.referencePage},
		"/favicon.ico":          {cheapCost, func(c *gin.Context) { s.serveFile(c, web.Assets(), "icon.svg") }},
		"/assets/:file":         {cheapCost, func(c *gin.Context) { s.serveFile(c, web.Assets(), c.Param("file")) }},
	} {
		server.mountPage(path, page.cost, page.answer)
	}
}

// serveFile sends an embedded file.
func (s *Pages) serveFile(c *gin.Context, files fs.FS, name string) {
	if info, err := fs.Stat(files, name); err != nil || info.IsDir() {
		s.server.turnAway(c, unknownPath.because(""))
		return
	}
	c.Writer.Header().Set("Cache-Control", "no-cache") // it changes together with the pages
	http.ServeFileFS(c.Writer, c.Request, files, name)
}

// textOf is an answer for a page that has more to show: nil when it cannot be had at the moment.
func textOf[Q any](ctx context.Context, s *Pages, r route[Q], question Q) []byte {
	found, _, err := r.ask(ctx, s.server, question)
	if err != nil {
		return nil
	}
	return []byte(found.text)
}

// originOf is the origin by which the visitor reached this server, for commands to copy. Behind a proxy without
// X-Forwarded-Proto it may be wrong; nothing depends on it.
func originOf(r *http.Request) string {
	scheme := "http"
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		scheme = "https"
	}
	return (&url.URL{Scheme: scheme, Host: r.Host}).String()
}

// formPage shows a form of one field, and redirects the filled-in form to the page under path.
func (s *Pages) formPage(field, path string, form func(io.Writer) error) gin.HandlerFunc {
	return func(c *gin.Context) {
		if given := c.Query(field); given != "" {
			c.Redirect(http.StatusSeeOther, path+url.PathEscape(given))
			return
		}
		s.server.writePage(c, http.StatusOK, form)
	}
}

func (s *Pages) orderPage(c *gin.Context) {
	found, err := s.seek(s.server.withPayer(c, searchCost), c.Param("hash"), c.Request.URL.RawQuery)
	switch {
	case isAwaited(err):
		s.awaitedPage(c, err)
		return
	case err != nil:
		s.server.failPage(c, err)
		return
	case found.swap != "":
		c.Redirect(http.StatusSeeOther, found.swap)
		return
	}
	shown := found.order
	shown.Origin, shown.Now = originOf(c.Request), time.Now()
	var reading sync.WaitGroup
	reading.Go(func() { shown.Transactions = s.transactions(c.Request.Context(), found.order) })
	shown.Give, shown.Take = s.sidePrices(c.Request.Context(), shown.Record)
	reading.Wait()
	s.server.writePage(c, http.StatusOK, func(to io.Writer) error { return s.pages.Order(to, shown) })
}

// findForPage finds an order by its creation transaction or by its id, which look the same on EVM chains.
func (s *Pages) findForPage(ctx context.Context, text, rawQuery string) (web.Order, error) {
	tx, err := parseTxHash(text, tracking)
	if err != nil {
		return web.Order{}, err
	}
	at, err := parseIndex(rawQuery)
	if err != nil {
		return web.Order{}, err
	}
	shown := web.Order{Hash: tx.String(), Index: at}
	found, from, err := s.orders.ordersRoute().ask(ctx, s.server, creation{tx, at})
	err = searchedFor(err, from.Value.searched)
	if id, parseErr := chain.ParseHash(shown.Hash); parseErr == nil && isMissing(err) && !errors.Is(err, errImpatient) {
		var errByID error
		if found, from, errByID = s.orders.orderRoute().ask(ctx, s.server, id); !isKind(errByID, unknownOrder) {
			err = errByID
		}
		shown.Path = "/api/Orders/" + shown.Hash
	} else if err == nil {
		shown.Path, shown.Count = "/api/Orders/creationTxHash/"+shown.Hash, len(from.Value.bodies)
		if at > 0 {
			shown.Path += "?index=" + strconv.Itoa(at)
		}
	}
	if err != nil {
		return web.Order{}, err
	}
	shown.Record, shown.Final = []byte(found.text), found.final
	shown.Gaps, shown.Read = gapsOf(found.basis, from.Value.made), readOf(found.basis)
	shown.Then = s.worthThen(ctx, found.orders)
	return shown, nil
}

// gapsOf lists what an answer that was made at a time does not have of the chains that it is about. A chain that is not
// followed has no gap: it was asked itself.
func gapsOf(b index.Basis, made time.Time) (gaps []web.Gap) {
	for _, c := range b.Chains {
		gap := web.Gap{Chain: c.Chain}
		switch {
		case !c.Followed:
			continue
		case !c.HasBegun():
			gap.IsUnread = true
			gaps = append(gaps, gap)
			continue
		}
		if c.From.Number > 0 {
			gap.From, gap.Since = c.From.Number, time.Unix(int64(c.From.Time), 0)
		}
		if by := c.By(made); b.IsBehind(&c, by) {
			gap.Lag = by
		}
		if gap.Quarantined = c.Quarantined.Count; gap != (web.Gap{Chain: c.Chain}) {
			gaps = append(gaps, gap)
		}
	}
	return gaps
}
