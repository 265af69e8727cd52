package proxy

import (
	"bytes"
	"io"
	"net/http"

	"github.com/gin-gonic/gin"

	"crossgate/proxy/shadow"
	"crossgate/proxy/wire"
	"crossgate/upstream"
)

// SetShadow changes the choice of compared requests. Comparisons under way are not disturbed.
func (s *Server) SetShadow(settings shadow.Settings) { s.shadow.Configure(settings) }

// shadowed is a request whose answer will be compared. A nil one will not be.
type shadowed struct {
	shadow  *shadow.Shadow
	dialect Dialect
	route   string
	request upstream.Forward
	body    bytes.Buffer // of the request, as far as its handler has read it
}

// takeShadow decides at random whether the answer to a request will be compared, and keeps the parts of the request to
// send to the origin. Paths that the origin may not have are left out.
func (r Route[Q]) takeShadow(s *Server, c *gin.Context) *shadowed {
	method := c.Request.Method
	isOthers := c.FullPath() == r.Paths[0] && (method == http.MethodGet || method == http.MethodPost)
	if !s.shadow.Take(r.Paths[0], c.Request.URL.Path) || !isOthers {
		return nil
	}
	taken := &shadowed{shadow: s.shadow, dialect: r.Dialect, route: r.Paths[0], request: upstream.Forward{
		Method: method, Path: c.Request.URL.EscapedPath(), RawQuery: c.Request.URL.RawQuery,
	}}
	if method == http.MethodPost {
		body := c.Request.Body
		c.Request.Body = struct {
			io.Reader
			io.Closer
		}{io.TeeReader(body, &taken.body), body}
	}
	return taken
}

func (t *shadowed) failed(p *problem) {
	if t == nil || p.ID == bodyTooLong.ID { // only a part of the body was read
		return
	}
	body := wire.AppendProblem(nil, wire.Problem{Code: t.dialect.code(p.Kind), ID: p.ID, Message: p.PublicText()}) // without the request's id
	t.compare(p.Status, string(body))
}

func (t *shadowed) compare(status int, body string) {
	if t != nil {
		t.shadow.Compare(t.route, t.request, t.body.Bytes(), shadow.Response{Status: status, Body: body})
	}
}
