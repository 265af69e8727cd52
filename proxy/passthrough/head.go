package passthrough

import (
	"net/http"
	"time"

	"crossgate/cache"
	"crossgate/cache/rfc9111"
	"crossgate/upstream"
)

// compareHead compares the 200 to a HEAD with the response of a GET that is stored: it makes it fresh again or, where
// it is about another one, declares it out of date (RFC 9111, section 4.3.5).
func (h *Handler) compareHead(x *exchange, request upstream.Forward, response *http.Response, mark cache.Mark, began time.Time) {
	v := x.stored.match(x.header)
	if v == nil || v.status != http.StatusOK && v.status != http.StatusPartialContent {
		return
	}
	asks := x.asks
	asks.Method = http.MethodGet
	f := &fill{handler: h, key: x.key, host: x.host, path: x.path, asks: asks, request: request, mark: mark, stale: v}
	next, mayStore := f.freshened(rfc9111.Response{
		Status: response.StatusCode, Header: response.Header, Requested: began, Received: time.Now(),
	})
	if !mayStore || !rfc9111.UpdatesByHead(response.Header, v.header, v.extent.Total) {
		ended := *v
		ended.ended = true
		next = &ended
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if now, _, _ := h.store.Find(x.key); now == x.stored { // else another response has come meanwhile
		h.put(mark, x.key, h.found(f).with(next, x.host.MaxVariants, h.options.MaxBytes/8))
	}
}
