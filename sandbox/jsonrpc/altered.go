package jsonrpc

import (
	"net/http"
	"net/http/httputil"
	"net/url"
)

const mostAltered = 5 << 20 // bytes of a request

// Altered is a node that answers some calls itself, with the members that answer returns to accompany the response's
// id. If answer returns "", the underlying node answers. calls is the size of the batch.
func Altered(node http.Handler, answer func(call Request, calls int) (members string)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		Each(w, r, mostAltered, func(one *http.Request, call Request, calls int) *Recorder {
			if members := answer(call, calls); members != "" {
				return Answer(call, members)
			}
			return Record(node, one)
		})
	})
}

// At forwards to the node at an address. Responses stay uncompressed, so that they can be combined into batches.
func At(address string) http.Handler {
	return &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.Header.Del("Accept-Encoding")
		to, err := url.Parse(address)
		if err != nil {
			return // the request goes nowhere
		}
		r.Out.URL, r.Out.Host = to, to.Host
	}}
}
