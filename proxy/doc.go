// Package proxy is the public HTTP server: it turns documented paths into calls of the domain, and caches the answers.
//
// A path of the API is a route[Q]: data and functions that parse a request into a Q, make its cache key, load the
// answer and encode it. Every request takes the same walk (route.go):
//
//	transport → paths.canonical → middleware (id, span, panic, CORS, URL limit, quota)
//	  → route.parse → route.key → cache → on a miss route.load → wire encodes → page.write
//
// Errors become problems on the way out: failure.go maps errors of the domain to kinds, problem.go lists every kind
// with its number, id and text, and writes them in the dialect of the path's API. The HTML pages (pages.go,
// swap_page.go) call the routes for their JSON and have package web render it. One file belongs to each documented
// noun.
//
// The server calls the domain only through the interfaces in its Options; package wire has the JSON, transport the
// connections, quota the limits of clients, admin the operators' listener.
//
// Handlers run in the goroutine of their connection and may wait for a load; a load runs in a goroutine of the cache,
// outlives the request that started it, and answers everyone who waits for its key. Purges and head notifications may
// come from any goroutine. Answers are immutable once they are in the cache.
package proxy
