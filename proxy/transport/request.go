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

// newRequest copies a parsed request into the form that net/http would give it, without hop-by-hop headers. It shares
// no memory with the connection, so handlers may keep it. The body has been read whole.
//
// A target that cannot be decoded becomes the path unchanged, so that the handler can respond with its own error. A
// request that must be refused without reaching the handler is a status instead.
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
		values [8]string // enough for most requests
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
			return nil, http.StatusBadRequest // fasthttp accepts blanks
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
			values = append(values, value) // may reallocate: earlier ones keep the old array
			r.Header[name] = values[len(values)-1 : len(values) : len(values)]
		}
	}
	if r.Host == "" && minor > 0 || !httpguts.ValidHostHeader(r.Host) {
		return nil, http.StatusBadRequest // RFC 9112, section 3.2
	}
	r.URL = &part.url
	*r.URL = parseTarget(r.RequestURI)
	if r.URL.Host != "" {
		r.Host = r.URL.Host // absolute form, as sent to a proxy
	}
	if len(body) > 0 {
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(bytes.Clone(body))), int64(len(body))
	}
	return r, 0
}

// empty is the part that all requests share.
var empty = &http.Request{ProtoMajor: 1, Body: http.NoBody}

// version is the version of HTTP/1 in the request line.
func version(h *fasthttp.RequestHeader) (name string, minor int, known bool) {
	if h.IsHTTP11() {
		return "HTTP/1.1", 1, true
	}
	return "HTTP/1.0", 0, string(h.Protocol()) == "HTTP/1.0"
}

// texts cuts many short strings out of one allocation.
type texts struct{ strings.Builder }

func (t *texts) of(p []byte) string {
	begin := t.Len()
	t.Write(p)
	return t.String()[begin:]
}

// parseTarget parses a request target, most of which need no decoding.
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

// isPlain reports whether decoding and encoding leave a path unchanged.
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

// asksToClose reports whether a Connection header has the option close, in any spelling; fasthttp knows one.
func asksToClose(options string) bool {
	for option := range strings.SplitSeq(options, ",") {
		if strings.EqualFold(strings.TrimSpace(option), "close") {
			return true
		}
	}
	return false
}
