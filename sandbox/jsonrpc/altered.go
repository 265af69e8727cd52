package jsonrpc

import (
	"net/http"
	"net/http/httputil"
	"net/url"
)

const mostAltered = 5 << 20 // bytes of a request

// Altered is a node that answers some calls itself, with the members that a response has beside its id. Where answer
// returns none, the node behind answers. calls is how many came together.
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

// At is the node at an address. Its answers are not compressed, so that they can be put into those to batches.
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
