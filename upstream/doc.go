// Package upstream calls services that Crossgate does not control: one endpoint with its breaker and rate
// budget, several of them as a pool, and JSON-RPC 2.0 over a pool. It knows no word of any domain.
package upstream
