// Package proxy is the public HTTP server: it turns documented paths into calls of the domain, and caches the answers.
//
// A path of the API is a Route[Q]: functions that parse a request into a Q, make its cache key, load the answer and
// encode it. Every request takes the same walk (route.go):
//
//	transport → paths.canonical → middleware (id, span, panic, CORS, URL limit, quota)
//	  → Route.Parse → Route.Key → cache → on a miss Route.Load, which encodes → Body.write
//
// Nouns mount their routes and pages (orders, swaps, pages). failure.go maps errors of the domain to kinds of problems,
// problem.go lists every kind and writes it in the dialect of the path's API.
//
// Handlers run in the goroutine of their connection; a load runs in one of the cache, outlives the request that started
// it, and answers everyone who waits for its key. Answers are immutable once they are in the cache.
package proxy
