// Package index answers which orders a transaction created and what waits for a taker: from its own
// store, which follows the chains, and from the chains themselves where the store does not reach.
package index
