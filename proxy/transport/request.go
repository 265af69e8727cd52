package transport

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/valyala/fasthttp"
	"golang.org/x/net/http/httpguts"
)

// newRequest is what has been read as net/http would tell it, without what is about the connection alone. Nothing of it
// belongs to the connection, so it may be kept. A body has been read whole, and its length is known.
//
// A target that cannot be decoded becomes the path as it stands: the handler tells the client in its own words. For what
// must not be answered at all there is an HTTP status instead of a request.
func newRequest(ctx context.Context, c *fasthttp.RequestCtx, remote string) (r *http.Request, refused int) {
	read := &c.Request.Header
	proto, minor, known := version(read)
	if !known {
		return nil, http.StatusHTTPVersionNotSupported
	}
	length, fields := len(read.Method())+len(read.RequestURI()), 0
	for name, value := range read.All() {
		length, fields = length+len(name)+len(value), fields+1
	}
	text := texts{}
	text.Grow(length)
	type parts struct {
		url    url.URL
		values [8]string // as many as most requests have
	}
	part := new(parts)
	r = empty.WithContext(ctx)
	r.Method, r.RequestURI = text.of(read.Method()), text.of(read.RequestURI())
	r.Proto, r.ProtoMinor = proto, minor
	r.Header = make(http.Header, fields)
	r.RemoteAddr = remote
	body := c.PostBody()
	values := part.values[:0]
	for name, value := range read.All() {
		name, value := text.of(name), text.of(value)
		switch before := r.Header[name]; {
		case !httpguts.ValidHeaderFieldName(name):
			return nil, http.StatusBadRequest // fasthttp lets blanks pass
		case name == "Host":
			r.Host = value
		case name == "Connection":
			if asksToClose(value) {
				c.SetConnectionClose()
			}
		case name == "Transfer-Encoding", name == "Content-Length" && len(body) == 0:
		case before != nil:
			r.Header[name] = append(before, value)
		default:
			values = append(values, value) // which may move it: earlier ones keep what they have
			r.Header[name] = values[len(values)-1 : len(values) : len(values)]
		}
	}
	if r.Host == "" && minor > 0 || !httpguts.ValidHostHeader(r.Host) {
		return nil, http.StatusBadRequest // RFC 9112, section 3.2
	}
	r.URL = &part.url
	*r.URL = parseTarget(r.RequestURI)
	if r.URL.Host != "" {
		r.Host = r.URL.Host // of a request to a proxy
	}
	if len(body) > 0 {
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(bytes.Clone(body))), int64(len(body))
	}
	return r, 0
}

// empty is what all requests have in common.
var empty = &http.Request{ProtoMajor: 1, Body: http.NoBody}

// version is that of HTTP/1 which a client speaks.
func version(h *fasthttp.RequestHeader) (name string, minor int, known bool) {
	if h.IsHTTP11() {
		return "HTTP/1.1", 1, true
	}
	return "HTTP/1.0", 0, string(h.Protocol()) == "HTTP/1.0"
}

// texts makes many short texts of one allocation, which has room for all of them.
type texts struct{ strings.Builder }

func (t *texts) of(p []byte) string {
	begin := t.Len()
	t.Write(p)
	return t.String()[begin:]
}

// parseTarget reads what a request is about.
func parseTarget(target string) url.URL {
	path, query, asks := strings.Cut(target, "?")
	if strings.HasPrefix(path, "/") && isPlain(path) && !strings.Contains(query, "#") {
		return url.URL{Path: path, RawQuery: query, ForceQuery: asks && query == ""}
	}
	if parsed, err := url.ParseRequestURI(target); err == nil {
		return *parsed
	}
	return url.URL{Path: path, RawQuery: query}
}

// isPlain reports whether a path holds nothing that decoding or encoding would change.
func isPlain(path string) bool {
	for i := range len(path) {
		switch b := path[i]; {
		case 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z', '-' <= b && b <= '9', b == '_', b == '~':
			// '-', '.', '/' and the digits follow one another
		default:
			return false
		}
	}
	return true
}

// asksToClose reads a Connection header, of whose spellings fasthttp knows one.
func asksToClose(options string) bool {
	for option := range strings.SplitSeq(options, ",") {
		if strings.EqualFold(strings.TrimSpace(option), "close") {
			return true
		}
	}
	return false
}
