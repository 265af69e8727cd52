package pages

import (
	"context"
	"embed"
	"errors"
	"html/template"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/stats"
	"crossgate/proxy"
	"crossgate/proxy/orders"
	"crossgate/proxy/swaps"
	"crossgate/proxy/web"
	"crossgate/proxy/wire"
	"crossgate/token"
)

// Details is the index's data beyond the answers of the API.
type Details interface {
	// Deliveries returns the known deliveries of orders, or query.ErrUnavailable.
	Deliveries(context.Context, []order.ID) (map[order.ID]order.Delivery, error)
	// Values returns what an order's amounts were worth at the time, and whether that was looked up, or
	// query.ErrUnavailable.
	Values(context.Context, order.ID) (v stats.Values, counted bool, err error)
	// Tellers returns the endpoints that reported a transaction's events in a block, none if that is not remembered.
	Tellers(chain.ID, chain.TxHash, chain.Hash) []string
}

// Tokens looks up the listed tokens of chains, and tokens' metadata and prices.
type Tokens interface {
	orders.Names
	swaps.Lists
}

// Options are the sources of what pages show besides the answers of the API.
type Options struct {
	Details Details
	Tokens  Tokens
	// Logo fetches a picture from a token list's URL, with its content type.
	Logo func(ctx context.Context, url string) (contentType string, picture []byte, err error)
}

// Pages serves the HTML pages.
type Pages struct {
	server  *proxy.Server
	orders  *orders.Orders
	swaps   *swaps.Swaps
	options func() Options // returns the current ones
	chains  chain.Registry
	pages   *Views
}

// Mount adds the HTML pages to a server.
func Mount(server *proxy.Server, orders *orders.Orders, swaps *swaps.Swaps, options func() Options) {
	chains := server.Options.Chains
	s := &Pages{server: server, orders: orders, swaps: swaps, options: options, chains: chains, pages: NewViews(chains)}
	orderForm := func(to io.Writer) error { return s.pages.Order(to, Order{}) }
	lockedForm := func(to io.Writer) error { return s.pages.Locked(to, Locked{}) }
	for path, page := range map[string]struct {
		cost   int
		answer gin.HandlerFunc
	}{
		"/":                     {proxy.ListCost, s.homePage},
		"/search":               {proxy.ListCost, s.searchPage},
		"/orders":               {proxy.ListCost, s.listPage},
		"/orders.csv":           {proxy.SwapCost, s.exportCSV},
		"/orders.json":          {proxy.SwapCost, s.exportJSON},
		"/address/:address":     {proxy.SwapCost, s.addressPage},
		"/token/:id/:address":   {proxy.SwapCost, s.tokenPage},
		"/order":                {proxy.CheapCost, s.formPage("hash", "/order/", orderForm)},
		"/order/:hash":          {proxy.CheapCost, s.orderPage},
		"/locked":               {proxy.CheapCost, s.formPage("taker", "/locked/", lockedForm)},
		"/locked/:takerAddress": {proxy.SwapCost, s.lockedPage},
		"/statistics":           {proxy.ListCost, s.statisticsPage},
		"/swap/:id":             {proxy.CheapCost, s.swapIDPage},
		"/swap/:id/tx/:hash":    {proxy.CheapCost, s.swapTxPage},
		"/docs":                 {proxy.ListCost, s.referencePage},
		"/docs/":                {proxy.ListCost, s.referencePage},
		"/logo/:id/:address":    {proxy.CheapCost, s.logo},
		"/favicon.ico":          {proxy.CheapCost, func(c *gin.Context) { s.serveFile(c, web.Assets(), "icon.svg") }},
		"/assets/:file":         {proxy.CheapCost, func(c *gin.Context) { s.serveFile(c, web.Assets(), c.Param("file")) }},
	} {
		server.MountPage(path, page.cost, page.answer)
	}
}

func (s *Pages) serveFile(c *gin.Context, files fs.FS, name string) {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		s.server.TurnAway(c, proxy.UnknownPath.Because(""))
		return
	}
	proxy.SendDocument(c, mime.TypeByExtension(path.Ext(name)), text)
}

// valueOf returns an answer's value for a page that also shows other things; had is false if it is unavailable.
func valueOf[V, Q any](ctx context.Context, s *Pages, r proxy.Route[Q], question Q) (value V, had bool) {
	found, _, err := r.Ask(ctx, s.server, question)
	if err != nil {
		return value, false
	}
	return found.Value.(V), true
}

// OriginOf returns the origin by which the visitor reached this server, for commands to copy. Behind a proxy without
// X-Forwarded-Proto it may be wrong; nothing depends on it.
func OriginOf(r *http.Request) string {
	scheme := "http"
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		scheme = "https"
	}
	return (&url.URL{Scheme: scheme, Host: r.Host}).String()
}

// formPage shows a form of one field, and redirects a submitted form to the page under path.
func (s *Pages) formPage(field, path string, form func(io.Writer) error) gin.HandlerFunc {
	return func(c *gin.Context) {
		if given := c.Query(field); given != "" {
			c.Redirect(http.StatusSeeOther, path+url.PathEscape(given))
			return
		}
		s.server.WritePage(c, http.StatusOK, form)
	}
}

func (s *Pages) orderPage(c *gin.Context) {
	found, err := s.seek(s.server.WithPayer(c, proxy.SearchCost), c.Param("hash"), c.Request.URL.RawQuery)
	switch {
	case isAwaited(err):
		s.awaitedPage(c, err)
		return
	case err != nil:
		s.server.FailPage(c, err)
		return
	case found.swap != "":
		c.Redirect(http.StatusSeeOther, found.swap)
		return
	}
	shown := found.order
	shown.Origin, shown.Now = OriginOf(c.Request), time.Now()
	shown.Tellers = map[order.At][]string{}
	for _, step := range recordedSteps(shown.Record.Order) {
		shown.Tellers[*step.at] = s.options().Details.Tellers(step.at.Chain, step.at.Tx, step.at.BlockHash)
	}
	give, take := shown.Record.Order.Terms.Give, shown.Record.Order.Terms.Take
	shown.Give, shown.Take = s.pricesOf(c.Request.Context(), token.Key{Chain: give.Chain, Address: give.Token}, token.Key{Chain: take.Chain, Address: take.Token})
	if shown.Record.Order.State == order.StateCreated {
		shown.Usual = s.orders.UsualTimes(c.Request.Context(), give.Chain, take.Chain, shown.Now)
	}
	s.server.WritePage(c, http.StatusOK, func(to io.Writer) error { return s.pages.Order(to, shown) })
}

// findForPage finds an order by its creation transaction or id, which look alike on EVM chains.
func (s *Pages) findForPage(ctx context.Context, text, rawQuery string) (Order, error) {
	tx, err := orders.ParseTxHash(text, proxy.Tracking)
	if err != nil {
		return Order{}, err
	}
	at, err := orders.ParseIndex(rawQuery)
	if err != nil {
		return Order{}, err
	}
	shown := Order{Hash: tx.String(), Index: at}
	found, from, err := s.orders.OrdersRoute().Ask(ctx, s.server, orders.Creation{Tx: tx, Index: at})
	err = searchedFor(err, from.Value.Searched)
	var later []order.ID // orders that the transaction is a later step of
	if err != nil {
		later = proxy.ProblemOf(err).Orders
	}
	if at < len(later) {
		shown.Path, shown.Count = "/api/Orders/"+later[at].String(), len(later)
		found, from, err = s.orders.OrderRoute().Ask(ctx, s.server, later[at])
	} else if id, parseErr := chain.ParseHash(shown.Hash); parseErr == nil && len(later) == 0 && orders.IsMissing(err) && !errors.Is(err, proxy.ErrImpatient) {
		var errByID error
		if found, from, errByID = s.orders.OrderRoute().Ask(ctx, s.server, id); !proxy.IsKind(errByID, proxy.UnknownOrder) {
			err = errByID
		}
		shown.Path = "/api/Orders/" + shown.Hash
	} else if err == nil {
		shown.Path, shown.Count = "/api/Orders/creationTxHash/"+shown.Hash, len(from.Value.Bodies)
		if at > 0 {
			shown.Path += "?index=" + strconv.Itoa(at)
		}
	}
	if err != nil {
		return Order{}, err
	}
	record := found.Value.(wire.Record)
	shown.Record, shown.JSON, shown.Final = &record, found.Text, found.Final
	shown.Gaps, shown.Read = gapsIn(found.Basis, from.Value.Made), found.Basis.Chains
	shown.Then = s.worthThen(ctx, found.Orders)
	return shown, nil
}

// gapsIn returns the gaps of an answer's chains as of a time. Chains not followed have none: they were asked directly.
func gapsIn(b order.Basis, made time.Time) (gaps []Gap) {
	for _, c := range b.Chains {
		gap := Gap{Chain: c.Chain}
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
		if gap.Quarantined = c.Quarantined.Count; gap != (Gap{Chain: c.Chain}) {
			gaps = append(gaps, gap)
		}
	}
	return gaps
}

// Views renders the pages of the API.
type Views struct{ *web.Pages }

// NewViews parses the templates.
func NewViews(chains chain.Registry) *Views {
	p := &Views{web.New(chains)}
	p.Add(views, template.FuncMap{
		"atTime": timeOf, "brief": briefOf, "chosenOf": chosenOf, "durations": durations, "gain": venueGain, "idOf": idOf,
		"isOfOrders": func(field string) bool { return slices.Contains(ofOrders, field) }, "marked": marked,
		"mostExported": func() uint64 { return mostExported }, "qr": qrCode, "share": venueShare, "table": tableOf,
		"textFields": func() any { return textFields }, "words": markedWords,
	}, "home", "order", "swap_record", "locked", "search", "list", "subject", "awaited", "statistics", "docs")
	return p
}

//go:embed templates/*.html
var views embed.FS

// Gap is a part of a chain that was not read and so is missing from an answer, for any of the reasons in its fields.
type Gap struct {
	Chain       chain.ID
	IsUnread    bool          // nothing was read; the fields below are unset
	From        uint64        // first block read; 0 if nothing is missing before it
	Since       time.Time     // time of From
	Lag         time.Duration // time since the newest block read was the chain's newest; 0 if below the threshold
	Quarantined int           // blocks that no endpoint can return
}
