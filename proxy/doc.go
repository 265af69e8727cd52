// Package proxy is the public HTTP server: it maps documented paths to calls of the domain, and caches the answers.
//
// A path of the API is a Route[Q]: functions that parse a request into a Q, derive its cache key, load the answer and
// encode it. Every request takes the same path through the server (route.go):
//
//	transport → paths.canonical → middleware (id, span, panic, CORS, URL limit, quota)
//	  → Route.Parse → Route.Key → cache → on a miss Route.Load, which encodes → Body.write
//
// Subpackages mount their routes, tools and pages. failure.go maps errors of the domain to kinds of problems, and
// problem.go lists every kind and writes it in the dialect of the path's API.
//
// Handlers run in the goroutine of their connection. A load runs in a goroutine of the cache, outlives the request that
// started it, and answers everyone waiting for its key. Answers are immutable once cached.
package proxy
