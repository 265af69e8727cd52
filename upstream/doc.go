// Package upstream calls services over HTTP that the gateway does not control.
//
// An Endpoint is one URL with what keeps us and it from harm: a circuit breaker, a rate budget with a monthly plan, a
// quarantine for wrong answers, and its recent health. A Pool is several endpoints for
// one job. Pool.Do and Pool.Run order them (pool.go), and a race (race.go) lets them try: the first alone, the next
// beside it when it is slow (a hedge) or after it when it failed (a retry), both out of one retry budget.
//
// An Attempt is one request to one endpoint. It passes quarantine, breaker and budget, sends the request (exchange.go)
// and returns unjudged. The race's loop, in the goroutine of the caller, judges answers in the order in which they
// arrive, accepts one, and settles each attempt: only then breaker, health, span and measurements learn how it went.
// Losers are canceled and waited for.
//
// What callers bring about must not cost an endpoint its use: failures only make its breaker suspicious, and probes of
// our own in the background (probe.go) decide. Endpoint.Close ends these.
//
// Everything here is safe for concurrent use, and knows no domain: package jsonrpc speaks JSON-RPC over a pool, and the
// other packages below speak to chains, venues and price services.
package upstream
