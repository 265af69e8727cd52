package proxy

import (
	"bytes"
	"cmp"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/proxy/web"
)

// WritePage sends the page that render writes.
func (s *Server) WritePage(c *gin.Context, status int, render func(io.Writer) error) {
	var body bytes.Buffer
	if err := render(&body); err != nil {
		s.fail(c, Tracking, internalError.From(err))
		return
	}
	page, header := form{body: body.String()}, c.Writer.Header()
	header.Add("Vary", "Accept-Encoding")
	if acceptsGzip(c.Request.Header["Accept-Encoding"]) {
		if packed := page.compress(); packed.body != "" {
			header["Content-Encoding"], page = packed.coding, packed
		}
	}
	web.Send(c.Writer, status, []byte(page.body))
}

// FailPage sends an error as a page.
func (s *Server) FailPage(c *gin.Context, err error) {
	p := ProblemOf(err)
	c.Abort()
	p.Explain(c.Writer.Header())
	shown := ShownProblem(c, p)
	s.WritePage(c, p.Status, func(to io.Writer) error { return s.pages.Problem(to, shown) })
}

// TurnAway rejects a request that no handler serves: with a page if a browser shows the answer to people, otherwise as
// the path's API does. Some HTTP libraries, such as Java's, accept HTML by default, so on API paths a browser has to
// say that it opens a document (Fetch Metadata).
func (s *Server) TurnAway(c *gin.Context, p *problem) {
	c.Writer.Header()["Vary"] = varyReader
	asked := c.Request.Header
	opens := asked.Get("Sec-Fetch-Dest") == "document" || !s.router.paths.has(c.Request.URL.Path)
	if opens && strings.Contains(asked.Get("Accept"), "text/html") {
		s.FailPage(c, p)
		return
	}
	s.fail(c, dialectAt(c.Request.URL.Path), p)
}

// ShownProblem logs the cause of an error, and returns its problem as a page shows it.
func ShownProblem(c *gin.Context, err error) web.Problem {
	p := ProblemOf(err)
	p.logCause(c)
	id := c.Writer.Header().Get(requestIDHeader)
	shown := web.Problem{
		Status: p.Status, ID: p.ID, Message: p.PublicText(), Request: id, Asked: cmp.Or(c.Param("hash"), c.Param("takerAddress"), c.Param("id")),
	}
	if isRetryable(p.Status) {
		shown.Retry = time.Duration(p.retrySeconds()) * time.Second
	}
	return shown
}

// IsKind reports whether the client would see err as a problem of one of these kinds.
func IsKind(err error, kinds ...Kind) bool {
	return err != nil && slices.ContainsFunc(kinds, func(k Kind) bool { return k.ID == ProblemOf(err).ID })
}
