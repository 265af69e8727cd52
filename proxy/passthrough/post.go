package passthrough

import (
	"io"
	"net/http"
	"time"

	"crossgate/cache/rfc9111"
	"crossgate/upstream"
)

// takesPost reports whether the response to a POST is one to later GETs as well (RFC 9110, section 9.3.3).
func (h *Handler) takesPost(x *exchange, response *http.Response, began time.Time) bool {
	target := *x.r.URL
	target.Scheme, target.Host = "http", x.r.Host
	received := rfc9111.Response{Status: response.StatusCode, Header: response.Header, Requested: began, Received: time.Now()}
	return rfc9111.IsAboutTarget(&target, response.Header) && response.ContentLength >= 0 &&
		response.ContentLength <= x.host.MaxBody && !x.host.variesByOurs(response.Header) &&
		rfc9111.MayStore(x.asks, received, x.host.Options)
}

// relayPost answers with such a response, and stores it. Its length is known, and not large.
func (h *Handler) relayPost(x *exchange, request upstream.Forward, response *http.Response, began time.Time) {
	defer response.Body.Close()
	h.invalidate(x, response)
	mark, now := h.store.Mark(), time.Now()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		h.fail(x, err)
		return
	}
	received := rfc9111.Response{Status: response.StatusCode, Header: response.Header, Requested: began, Received: now}
	f := &fill{handler: h, key: x.key, host: x.host, path: x.path, asks: x.asks, request: request, mark: mark}
	h.keep(f, &variant{
		status: response.StatusCode, header: keptHeader(response.Header, now), body: body, received: now,
		extent: rfc9111.FullExtent(int64(len(body))), policy: rfc9111.PolicyOf(received, x.host.Options),
		selection: rfc9111.SelectionOf(x.asks.Header, response.Header),
	})
	writeHead(x.w, response, rfc9111.Status{Forwarded: "method", Answered: response.StatusCode, Stored: true})
	x.w.WriteHeader(response.StatusCode)
	_, _ = x.w.Write(body) // fails when the client has left
}
