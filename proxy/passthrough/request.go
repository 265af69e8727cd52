package passthrough

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"crossgate/cache/rfc9111"
	"crossgate/upstream"
)

// Names of fields by which proxies describe a request and its client to origins have one of these texts in them, or one
// of these words. The key lacks such fields, so no client may say them: they would decide what others get.
var (
	unkeyedTexts = []string{"forward", "original", "originating", "override", "rewrite", "clientip", "socketip", "ipcountry"}
	unkeyedWords = strings.Fields(`addr host http http2 https ip ipv4 ipv6 port proto protocol scheme script uri url
		cert clientcert remote ssl tls connecting visitor proxy surrogate wap invoke middleware
		akamai appengine azure cf cloudfront envoy fastly varnish`)
)

// drops reports whether a field of a request does not go on: one that proxies say, or whose name has other characters
// than letters, digits and dashes, since origins read some of these as dashes. What only browsers say goes on.
func drops(name string) bool {
	name = strings.ToLower(name)
	switch {
	case strings.HasPrefix(name, "sec-"), strings.HasPrefix(name, "access-control-"):
		return false
	case strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "",
		slices.ContainsFunc(unkeyedTexts, func(text string) bool { return strings.Contains(name, text) }):
		return true
	}
	return slices.ContainsFunc(strings.Split(name, "-"), func(word string) bool { return slices.Contains(unkeyedWords, word) })
}

// endToEnd returns the fields of a request that are not for this connection alone. It may be the same header.
func endToEnd(header http.Header) http.Header {
	for _, line := range header["Connection"] {
		if !strings.EqualFold(line, "keep-alive") && !strings.EqualFold(line, "close") {
			cleaned := header.Clone()
			rfc9111.DropHopByHop(cleaned)
			return cleaned
		}
	}
	return header
}

// variesByOurs reports whether Vary names a field that the origin gets with another value than the client sent.
func variesByOurs(header http.Header) bool {
	return slices.ContainsFunc(rfc9111.Selecting(header), func(name string) bool {
		return name == "Via" || name == "Connection" || name == "Te" || drops(name)
	})
}

func (h *Handler) forwardOf(x *exchange) upstream.Forward {
	header := x.header.Clone()
	rfc9111.DropHopByHop(header)
	maps.DeleteFunc(header, func(name string, _ []string) bool { return drops(name) })
	delete(header, "Expect") // it is met by this side of the connection
	if address := h.options.Client(x.r); address.IsValid() {
		header["X-Forwarded-For"] = []string{address.String()}
	}
	header["Via"] = append(slices.Clone(header["Via"]), strconv.Itoa(x.r.ProtoMajor)+"."+strconv.Itoa(x.r.ProtoMinor)+" "+Name)
	if header["User-Agent"] == nil {
		header["User-Agent"] = []string{""} // net/http would name itself
	}
	return upstream.Forward{Method: x.r.Method, Path: x.path, RawQuery: x.r.URL.RawQuery, Host: x.keptHost, Header: header}
}

func escapedPath(r *http.Request) string {
	if path := r.URL.EscapedPath(); path != "" {
		return path
	}
	return "/"
}

// forward asks the origin. One that switches protocols has no response: no request asks for that.
func (h *Handler) forward(ctx context.Context, host *Host, f upstream.Forward) (*http.Response, error) {
	response, err := h.options.Origins.Forward(ctx, host.Name, f)
	if err == nil && response.StatusCode == http.StatusSwitchingProtocols {
		_ = response.Body.Close()
		return nil, &upstream.Error{Class: upstream.BadAnswer, Endpoint: host.Name, Err: errors.New("protocol switched unasked")}
	}
	return response, err
}
