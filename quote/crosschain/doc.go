// Package crosschain finds the cost of a swap from one chain to another, which a taker makes for an order.
//
// The input is swapped into a reserve token on the source chain and locked there. The taker pays out of the equivalent
// reserve on the destination chain, less his margin and expenses, and swaps into the wanted token. [Estimator.Estimate]
// finds the pairs of reserves, with the swaps beside them that package quote compares (route.go), follows each to its
// end (estimate.go), with a taker's costs (expenses.go) and the pure arithmetic of amounts (arithmetic.go, costs.go).
// The route that leaves most is the answer.
package crosschain
