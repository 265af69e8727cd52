package proxy

import (
	"bytes"
	"cmp"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/proxy/web"
)

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

// isKind reports whether the client would read of err as a problem of one of some kinds.
func isKind(err error, kinds ...kind) bool {
	return err != nil && slices.ContainsFunc(kinds, func(k kind) bool { return k.id == problemOf(err).id })
}
