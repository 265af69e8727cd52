package proxy

import (
	"bytes"
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
	"crossgate/proxy/web"
)

// mountPages adds what people look at. Pages are made of the answers of the documented paths.
func (s *Server) mountPages(engine *gin.Engine) {
	for path, page := range map[string]gin.HandlerFunc{
		"/":                     s.homePage,
		"/order":                s.formPage("hash", "/order/", func(to io.Writer) error { return s.pages.Order(to, web.Order{}) }),
		"/order/:hash":          s.orderPage,
		"/locked":               s.formPage("taker", "/locked/", func(to io.Writer) error { return s.pages.Locked(to, web.Locked{}) }),
		"/locked/:takerAddress": s.lockedPage,
		"/swap":                 s.swapPage,
	} {
		engine.GET(path, page)
		engine.HEAD(path, page)
	}
	engine.GET("/assets/:file", func(c *gin.Context) { s.serveFile(c, web.Assets(), c.Param("file")) })
}

// serveFile sends an embedded file as it is.
func (s *Server) serveFile(c *gin.Context, files fs.FS, name string) {
	if info, err := fs.Stat(files, name); err != nil || info.IsDir() {
		s.notFound(c)
		return
	}
	c.Writer.Header().Set("Cache-Control", "no-cache") // it changes with the pages that use it
	http.ServeFileFS(c.Writer, c.Request, files, name)
}

// writePage sends what write makes.
func (s *Server) writePage(c *gin.Context, status int, write func(io.Writer) error) {
	var body bytes.Buffer
	if err := write(&body); err != nil {
		s.fail(c, tracking, internalError.from(err))
		return
	}
	web.Send(c.Writer, status, body.Bytes())
}

// failPage sends the page of a problem.
func (s *Server) failPage(c *gin.Context, err error) {
	p := problemOf(err)
	p.logCause(c)
	s.writePage(c, p.status, func(to io.Writer) error { return s.pages.Problem(to, shownProblem(c, p)) })
}

func shownProblem(c *gin.Context, p *problem) web.Problem {
	return web.Problem{Status: p.status, ID: p.id, Message: p.publicText(), Request: c.Writer.Header().Get(requestIDHeader)}
}

// originOf is how the visitor reached this server, for commands to copy. It may be wrong behind a proxy that does
// not tell; nothing is decided by it.
func originOf(r *http.Request) string {
	scheme := "http"
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		scheme = "https"
	}
	return (&url.URL{Scheme: scheme, Host: r.Host}).String()
}

func (s *Server) homePage(c *gin.Context) {
	now := time.Now()
	home, basis := web.Home{Chains: s.serving(), Now: now}, s.options.Orders.Basis()
	for _, c := range basis.Chains {
		row := web.Indexed{Chain: c.Chain, Block: c.Indexed}
		if c.Indexed > 0 {
			row.Lag = c.By(now)
			row.Late = row.Lag > basis.Behind
		}
		home.Indexed = append(home.Indexed, row)
	}
	s.writePage(c, http.StatusOK, func(to io.Writer) error { return s.pages.Home(to, home) })
}

// formPage shows a form of one field, and leads who has filled it in to the page under path.
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
	shown, err := s.findForPage(c.Request.Context(), c.Param("hash"), c.Request.URL.RawQuery)
	if err != nil {
		s.failPage(c, err)
		return
	}
	shown.Origin, shown.Now = originOf(c.Request), time.Now()
	s.writePage(c, http.StatusOK, func(to io.Writer) error { return s.pages.Order(to, shown) })
}

// findForPage finds an order by the hash of its creation or by its id, which look the same on EVM chains.
func (s *Server) findForPage(ctx context.Context, text, rawQuery string) (web.Order, error) {
	tx, err := parseTxHash(text)
	if err != nil {
		return web.Order{}, err
	}
	index, err := parseIndex(rawQuery)
	if err != nil {
		return web.Order{}, err
	}
	found, from, err := s.ordersRoute().ask(ctx, s, creation{tx, index})
	if err == nil {
		path := "/api/Orders/creationTxHash/" + tx.String()
		if index > 0 {
			path += "?index=" + strconv.Itoa(index)
		}
		return web.Order{
			Record: []byte(found.text), Path: path, Final: found.final, Index: index, Count: len(from.Value.bodies), Hash: tx.String(),
		}, nil
	}
	id, notID := chain.ParseHash(tx.String())
	if notID != nil || !isUnknown(err) {
		return web.Order{}, err
	}
	return s.findByIDForPage(ctx, id, err)
}

// isUnknown reports whether there may be an order all the same, by its id.
func isUnknown(err error) bool {
	var p *problem
	return errors.As(err, &p) && (p.id == unknownTx.id || p.id == txWithoutOrder.id)
}

func (s *Server) findByIDForPage(ctx context.Context, id order.ID, otherwise error) (web.Order, error) {
	found, _, err := s.orderRoute().ask(ctx, s, id)
	var p *problem
	switch {
	case errors.As(err, &p) && p.id == unknownOrder.id:
		return web.Order{}, otherwise
	case err != nil:
		return web.Order{}, err
	}
	return web.Order{Record: []byte(found.text), Path: "/api/Orders/" + id.String(), Final: found.final, Hash: id.String()}, nil
}

// mostLookups bounds the orders of one page whose delivery is looked up, and how many at a time.
const (
	mostLookups   = 200
	lookupsAtOnce = 8
)

func (s *Server) lockedPage(c *gin.Context) {
	ctx := c.Request.Context()
	taker, err := parseTakerAddress(c)
	if err != nil {
		s.failPage(c, err)
		return
	}
	found, _, err := s.lockedRoute().ask(ctx, s, taker)
	if err != nil {
		s.failPage(c, err)
		return
	}
	ids, err := web.LockedOrders([]byte(found.text))
	if err != nil {
		s.failPage(c, err)
		return
	}
	text := c.Param("takerAddress")
	shown := web.Locked{
		Taker: text, Answer: []byte(found.text), Delivered: s.deliveries(ctx, ids[:min(len(ids), mostLookups)]),
		Path: "/api/Satistics/" + url.PathEscape(text) + "/lockedAssets", Origin: originOf(c.Request), Now: time.Now(),
	}
	s.writePage(c, http.StatusOK, func(to io.Writer) error { return s.pages.Locked(to, shown) })
}

// deliveries looks up when orders were delivered. An order that cannot be read is left out.
func (s *Server) deliveries(ctx context.Context, ids []string) map[string]time.Time {
	ctx, cancel := context.WithTimeout(ctx, s.options.OrderLimit)
	defer cancel()
	var (
		lookups sync.WaitGroup
		mu      sync.Mutex
		at      = make(map[string]time.Time, len(ids))
		places  = make(chan struct{}, lookupsAtOnce)
		byID    = s.orderRoute()
	)
	for _, text := range ids {
		id, err := chain.ParseHash(text)
		if err != nil {
			continue
		}
		lookups.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			found, _, err := byID.ask(ctx, s, id)
			if err != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			at[text] = web.FulfilledAt([]byte(found.text))
		})
	}
	lookups.Wait()
	return at
}
