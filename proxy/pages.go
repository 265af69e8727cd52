package proxy

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/chain"
	"crossgate/order/index"
	"crossgate/proxy/web"
)

// mountPages adds the HTML pages, which are rendered from the JSON of the documented paths.
func (s *Server) mountPages(to *router) {
	orderForm := func(to io.Writer) error { return s.pages.Order(to, web.Order{}) }
	lockedForm := func(to io.Writer) error { return s.pages.Locked(to, web.Locked{}) }
	to.mountPage("/", listCost, s.homePage)
	to.mountPage("/search", listCost, s.searchPage)
	to.mountPage("/orders", listCost, s.listPage)
	to.mountPage("/order", cheapCost, s.formPage("hash", "/order/", orderForm))
	to.mountPage("/order/:hash", cheapCost, s.orderPage)
	to.mountPage("/locked", cheapCost, s.formPage("taker", "/locked/", lockedForm))
	to.mountPage("/locked/:takerAddress", swapCost, s.lockedPage)
	to.mountPage("/statistics", listCost, s.statisticsPage)
	to.mountPage("/swap", swapCost, s.swapPage)
	to.mountPage("/swap/:id", cheapCost, s.swapIDPage)
	to.mountPage("/swap/:id/tx/:hash", cheapCost, s.swapTxPage)
	to.engine.GET("/order/:hash/awaited", s.awaitOrder)
	to.engine.GET("/favicon.ico", func(c *gin.Context) { s.serveFile(c, web.Assets(), "icon.svg") })
	to.engine.GET("/assets/:file", func(c *gin.Context) { s.serveFile(c, web.Assets(), c.Param("file")) })
}

// serveFile sends an embedded file.
func (s *Server) serveFile(c *gin.Context, files fs.FS, name string) {
	if info, err := fs.Stat(files, name); err != nil || info.IsDir() {
		s.turnAway(c, unknownPath.because(""))
		return
	}
	c.Writer.Header().Set("Cache-Control", "no-cache") // it changes together with the pages
	http.ServeFileFS(c.Writer, c.Request, files, name)
}

// writePage sends what render writes.
func (s *Server) writePage(c *gin.Context, status int, render func(io.Writer) error) {
	var body bytes.Buffer
	if err := render(&body); err != nil {
		s.fail(c, tracking, internalError.from(err))
		return
	}
	page, header := form{body: body.String()}, c.Writer.Header()
	header.Add("Vary", "Accept-Encoding")
	if packed := page.compress(acceptedEncoding(c.Request.Header["Accept-Encoding"])); packed.body != "" {
		header["Content-Encoding"] = packed.coding
		page = packed
	}
	web.Send(c.Writer, status, []byte(page.body))
}

// textOf is an answer for a page that has more to show: nil when it cannot be had at the moment.
func textOf[Q any](ctx context.Context, s *Server, r route[Q], question Q) []byte {
	found, _, err := r.ask(ctx, s, question)
	if err != nil {
		return nil
	}
	return []byte(found.text)
}

// failPage sends an error as a page.
func (s *Server) failPage(c *gin.Context, err error) {
	p := problemOf(err)
	c.Abort()
	p.logCause(c)
	p.explain(c.Writer.Header())
	s.writePage(c, p.status, func(to io.Writer) error { return s.pages.Problem(to, shownProblem(c, p)) })
}

// turnAway answers a request that no handler of its path answers: with a page where a browser shows the answer to
// somebody, else as the API of the path has it.
func (s *Server) turnAway(c *gin.Context, p *problem) {
	c.Writer.Header()["Vary"] = varyReader
	if s.isForPeople(c.Request) {
		s.failPage(c, p)
		return
	}
	s.fail(c, dialectAt(c.Request.URL.Path), p)
}

// isForPeople reports whether a browser shows the answer to somebody. Libraries may accept HTML without being asked to,
// as that of Java does, so on paths of the API a browser has to say that it opens a document (Fetch Metadata).
func (s *Server) isForPeople(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "text/html") && (r.Header.Get("Sec-Fetch-Dest") == "document" || !s.router.has(r.URL.Path))
}

func shownProblem(c *gin.Context, p *problem) web.Problem {
	id := c.Writer.Header().Get(requestIDHeader)
	shown := web.Problem{
		Status: p.status, ID: p.id, Message: p.publicText(), Request: id, Asked: cmp.Or(c.Param("hash"), c.Param("takerAddress"), c.Param("id")),
	}
	if isRetryable(p.status) {
		shown.Retry = time.Duration(p.retrySeconds()) * time.Second
	}
	return shown
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
func (s *Server) formPage(field, path string, form func(io.Writer) error) gin.HandlerFunc {
	return func(c *gin.Context) {
		if given := c.Query(field); given != "" {
			c.Redirect(http.StatusSeeOther, path+url.PathEscape(given))
			return
		}
		s.writePage(c, http.StatusOK, form)
	}
}

func (s *Server) orderPage(c *gin.Context) {
	found, err := s.seek(s.withPayer(c, searchCost), c.Param("hash"), c.Request.URL.RawQuery)
	switch {
	case isAwaited(err):
		s.awaitedPage(c, err)
		return
	case err != nil:
		s.failPage(c, err)
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
	s.writePage(c, http.StatusOK, func(to io.Writer) error { return s.pages.Order(to, shown) })
}

// findForPage finds an order by its creation transaction or by its id, which look the same on EVM chains.
func (s *Server) findForPage(ctx context.Context, text, rawQuery string) (web.Order, error) {
	tx, err := parseTxHash(text, tracking)
	if err != nil {
		return web.Order{}, err
	}
	at, err := parseIndex(rawQuery)
	if err != nil {
		return web.Order{}, err
	}
	shown := web.Order{Hash: tx.String(), Index: at}
	found, from, err := s.ordersRoute().ask(ctx, s, creation{tx, at})
	err = searchedFor(err, from.Value.searched)
	if id, parseErr := chain.ParseHash(shown.Hash); parseErr == nil && isMissing(err) && !errors.Is(err, errImpatient) {
		var errByID error
		if found, from, errByID = s.orderRoute().ask(ctx, s, id); !isKind(errByID, unknownOrder) {
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

// isMissing reports whether an order was not found by a transaction, as far as that is known.
func isMissing(err error) bool {
	return isKind(err, unknownTx, txWithoutOrder) || err != nil && len(problemOf(err).unheard) > 0
}

// isKind reports whether the client would read of err as a problem of one of some kinds.
func isKind(err error, kinds ...kind) bool {
	return err != nil && slices.ContainsFunc(kinds, func(k kind) bool { return k.id == problemOf(err).id })
}
