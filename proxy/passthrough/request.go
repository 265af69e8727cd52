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

// Names of fields in which proxies describe a request and its client to origins contain one of these texts, or one of
// these words. The key does not cover them, so clients may not send them: they would affect other clients' responses.
var (
	unkeyedTexts = []string{"forward", "original", "originating", "override", "rewrite", "clientip", "socketip", "ipcountry"}
	unkeyedWords = strings.Fields(`addr host http http2 https ip ipv4 ipv6 port proto protocol scheme script uri url
		cert clientcert remote ssl tls connecting visitor proxy surrogate wap invoke middleware
		akamai appengine azure cf cloudfront envoy fastly varnish`)
)

// drops reports whether a request field is not forwarded: one that proxies set, or whose name has characters other than
// letters, digits and dashes, since origins read some of these as dashes. Fields that only browsers set are forwarded.
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

// endToEnd returns the fields of a request that are not hop-by-hop. It may return the same header.
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

// variesByOurs reports whether Vary lists a field that the origin receives with another value than the client sent.
func variesByOurs(header http.Header) bool {
	return slices.ContainsFunc(rfc9111.Selecting(header), func(name string) bool {
		return name == "Via" || name == "Connection" || name == "Te" || drops(name)
	})
}

func (h *Handler) forwardOf(x *exchange) upstream.Forward {
	header := x.header.Clone()
	rfc9111.DropHopByHop(header)
	maps.DeleteFunc(header, func(name string, _ []string) bool { return drops(name) })
	delete(header, "Expect") // met by this side of the connection
	if address := h.options.Client(x.r); address.IsValid() {
		header["X-Forwarded-For"] = []string{address.String()}
	}
	header["Via"] = append(slices.Clone(header["Via"]), strconv.Itoa(x.r.ProtoMajor)+"."+strconv.Itoa(x.r.ProtoMinor)+" "+Name)
	if header["User-Agent"] == nil {
		header["User-Agent"] = []string{""} // net/http would send its own
	}
	return upstream.Forward{Method: x.r.Method, Path: x.path, RawQuery: x.r.URL.RawQuery, Host: x.keptHost, Header: header}
}

func escapedPath(r *http.Request) string {
	if path := r.URL.EscapedPath(); path != "" {
		return path
	}
	return "/"
}

// forward asks the origin. Switching protocols is an error, because no request asks for it.
func (h *Handler) forward(ctx context.Context, host *Host, f upstream.Forward) (*http.Response, error) {
	response, err := h.options.Origins.Forward(ctx, host.Name, f)
	if err == nil && response.StatusCode == http.StatusSwitchingProtocols {
		_ = response.Body.Close()
		return nil, &upstream.Error{Class: upstream.BadAnswer, Endpoint: host.Name, Err: errors.New("unrequested switch of protocols")}
	}
	return response, err
}
