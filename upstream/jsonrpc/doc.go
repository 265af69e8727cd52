// Package jsonrpc speaks JSON-RPC 2.0 (jsonrpc.org/specification) over a pool of endpoints.
//
// A caller hands calls to Client.Batch. A batch that another caller has in flight is joined (inflight.go); any other is
// a job for upstream.Pool: at each endpoint in turn, an attempt sends all calls in one HTTP request (attempt.go),
// together with a call that proves the endpoint's identity when that is due (identity.go). The pool's race hands each
// attempt back to be judged: the replies are decoded and checked by the calls (response.go), and a batch with open
// calls goes on to the next endpoint, as does a result that its call doubts, until a second endpoint returns the same.
// The meanings of errors are a table (meanings.txt). Batches that endpoints refuse as too large are halved.
//
// All of it is for calls that change nothing. Clients are safe for concurrent use; a Call belongs to one caller.
package jsonrpc
