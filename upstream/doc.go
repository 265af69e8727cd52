// Package upstream calls services over HTTP that the gateway does not control.
//
// An Endpoint is one URL together with its safeguards: a circuit breaker, a rate budget with a monthly plan, a
// quarantine for wrong answers, and its recent health. A Pool is several endpoints for one job. Pool.Do and Pool.Run
// order them (pool.go), and a race (race.go) tries them: the first on its own, the next beside it if it is slow (a
// hedge) or after it if it failed (a retry), both out of one retry budget.
//
// An Attempt is one request to one endpoint. It passes quarantine, breaker and budget, sends the request (exchange.go)
// and returns unjudged. The race's loop, in the caller's goroutine, judges answers in the order in which they arrive,
// accepts one, and settles each attempt: only then do breaker, health, span and measurements learn the outcome. Losers
// are canceled and waited for.
//
// Callers must not be able to take an endpoint out of use: failures only make its breaker suspicious, and background
// probes of our own (probe.go) decide. Endpoint.Close stops them.
//
// Everything here is safe for concurrent use and knows no domain: package jsonrpc speaks JSON-RPC over a pool, and the
// other packages below speak to chains, venues and price services.
package upstream
