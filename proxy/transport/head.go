package transport

import (
	"context"
	"errors"
	"net/http"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// refusal is the status to reject a request with.
type refusal int

func (r refusal) Error() string { return "request refused: " + http.StatusText(int(r)) }

const (
	errMalformed   = refusal(http.StatusBadRequest)
	errBodyTooLong = refusal(http.StatusRequestEntityTooLarge)
	errHeadTooLong = refusal(http.StatusRequestHeaderFieldsTooLarge)
	errExpectation = refusal(http.StatusExpectationFailed)
	errCoding      = refusal(http.StatusNotImplemented)
	errVersion     = refusal(http.StatusHTTPVersionNotSupported)
)

// errGone means that the connection ended before another request began.
var errGone = errors.New("the client has left")

// request reads a request into net/http's form, with its body unless that is streamed. It shares no memory with the
// connection, so handlers may keep it.
func (in *input) request(ctx *requestContext) (*http.Request, *bodyStream, error) {
	if in.afterPost {
		if err := in.skipLines(); err != nil {
			return nil, nil, err
		}
	}
	head, err := in.head()
	if err != nil {
		return nil, nil, err
	}
	r, err := parseHead(ctx, head)
	if err != nil {
		return nil, nil, err
	}
	r.RemoteAddr, r.TLS = in.from.remote, in.from.tls
	in.afterPost = r.Method == http.MethodPost
	if r.ContentLength == 0 {
		return r, nil, nil
	}
	if streams := in.from.server.options.Stream; streams != nil && streams(r) {
		body, err := in.streamBody(r, ctx)
		return r, body, err
	}
	return r, nil, in.readBody(r, ctx)
}

// skipLines skips the empty line that some old clients send after the body of a POST (RFC 9112, section 2.2).
func (in *input) skipLines() error {
	const most = 4 // bytes
	for range most {
		first, err := in.ReadByte()
		if err != nil {
			return errGone
		}
		if first != '\r' && first != '\n' {
			return in.UnreadByte()
		}
	}
	return nil
}

// parseHead parses a request line and the header lines after it, up to the empty one. ContentLength is the length of
// the body, 0 for none and -1 for chunks.
func parseHead(ctx context.Context, head string) (*http.Request, error) {
	r := empty.WithContext(ctx)
	line, rest := cutLine(head)
	if err := parseRequestLine(r, line); err != nil {
		return nil, err
	}
	lines := strings.Count(rest, "\n")
	r.Header = make(http.Header, lines)
	values := make([]string, 0, lines)
	for line, rest = cutLine(rest); line != ""; line, rest = cutLine(rest) {
		name, value, err := parseField(line)
		if err != nil {
			return nil, err
		}
		if before := r.Header[name]; before != nil {
			r.Header[name] = append(before, value)
			continue
		}
		values = append(values, value)
		r.Header[name] = values[len(values)-1 : len(values) : len(values)]
	}
	if err := takeHost(r); err != nil {
		return nil, err
	}
	if pragma := r.Header["Pragma"]; len(pragma) > 0 && pragma[0] == "no-cache" && r.Header["Cache-Control"] == nil {
		r.Header["Cache-Control"] = []string{"no-cache"} // RFC 9111, section 5.4
	}
	options := r.Header["Connection"]
	r.Close = httpguts.HeaderValuesContainsToken(options, "close") ||
		r.ProtoMinor == 0 && !httpguts.HeaderValuesContainsToken(options, "keep-alive")
	if err := takeFraming(r); err != nil {
		return nil, err
	}
	if expects := r.Header["Expect"]; len(expects) > 0 && expects[0] != "" && !continues(r) {
		return nil, errExpectation
	}
	return r, nil
}

// empty holds the fields that all requests share.
var empty = &http.Request{ProtoMajor: 1, Body: http.NoBody}

// cutLine cuts the first line off, without its end.
func cutLine(text string) (line, rest string) {
	line, rest, _ = strings.Cut(text, "\n")
	return strings.TrimSuffix(line, "\r"), rest
}

func parseRequestLine(r *http.Request, line string) error {
	method, rest, found := strings.Cut(line, " ")
	target, proto, foundToo := strings.Cut(rest, " ")
	if !found || !foundToo || !httpguts.ValidHeaderFieldName(method) { // a method is a token, too
		return errMalformed
	}
	major, minor, known := http.ParseHTTPVersion(proto)
	switch {
	case !known:
		return errMalformed
	case major != 1:
		return errVersion
	}
	r.Method, r.RequestURI, r.Proto, r.ProtoMinor = method, target, proto, minor
	return parseTarget(r, target)
}

func parseTarget(r *http.Request, target string) (err error) {
	isAuthority := r.Method == http.MethodConnect && !strings.HasPrefix(target, "/")
	if isAuthority {
		target = "http://" + target
	}
	if r.URL, err = url.ParseRequestURI(target); err != nil {
		return errMalformed
	}
	if isAuthority {
		r.URL.Scheme = ""
	}
	return nil
}

// parseField parses a header line. Line folding is rejected (RFC 9112, section 5.2).
func parseField(line string) (name, value string, err error) {
	name, value, found := strings.Cut(line, ":")
	value = strings.Trim(value, " \t")
	if !found || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
		return "", "", errMalformed
	}
	return textproto.CanonicalMIMEHeaderKey(name), value, nil
}

// takeHost moves the Host field to where net/http has it (RFC 9112, section 3.2).
func takeHost(r *http.Request) error {
	hosts := r.Header["Host"]
	delete(r.Header, "Host")
	r.Host = r.URL.Host // set in the absolute form, as sent to a proxy
	switch {
	case len(hosts) > 1, len(hosts) == 0 && r.ProtoMinor > 0 && r.Method != http.MethodConnect:
		return errMalformed
	case len(hosts) == 0:
		return nil
	case !httpguts.ValidHostHeader(hosts[0]):
		return errMalformed
	}
	if r.Host == "" {
		r.Host = hosts[0]
	}
	return nil
}

// takeFraming determines the framing of the body. Whatever two readers could delimit differently is rejected: both
// kinds of length, several of one kind, and chunks in HTTP/1.0 (RFC 9112, section 6).
func takeFraming(r *http.Request) error {
	codings, lengths := r.Header["Transfer-Encoding"], r.Header["Content-Length"]
	switch {
	case codings == nil && lengths == nil:
		return nil
	case codings == nil && len(lengths) == 1:
		length, err := strconv.ParseUint(lengths[0], 10, 63)
		if err != nil {
			return errMalformed
		}
		r.ContentLength = int64(length)
		return nil
	case codings == nil, r.ProtoMinor == 0:
		return errMalformed
	case len(codings) > 1 || !strings.EqualFold(codings[0], "chunked"):
		return errCoding
	case lengths != nil:
		return errMalformed
	}
	delete(r.Header, "Transfer-Encoding")
	r.TransferEncoding, r.ContentLength = []string{"chunked"}, -1
	return takeTrailer(r)
}

// takeTrailer moves the announced names of trailer fields to where net/http has them.
func takeTrailer(r *http.Request) error {
	for _, names := range r.Header["Trailer"] {
		for name := range strings.SplitSeq(names, ",") {
			switch name = textproto.CanonicalMIMEHeaderKey(strings.Trim(name, " \t")); name {
			case "":
				continue
			case "Transfer-Encoding", "Trailer", "Content-Length":
				return errMalformed
			}
			if r.Trailer == nil {
				r.Trailer = http.Header{}
			}
			r.Trailer[name] = nil
		}
	}
	delete(r.Header, "Trailer")
	return nil
}

// continues reports whether the client waits for 100 Continue. No other expectation can be met.
func continues(r *http.Request) bool {
	return httpguts.HeaderValuesContainsToken(r.Header["Expect"][:1], "100-continue")
}
