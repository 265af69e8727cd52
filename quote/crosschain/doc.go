// Package crosschain finds what a swap from one chain to another costs, which a taker makes for an order.
//
// The input is swapped into a reserve token on the source chain and locked there; the taker gives out of the equal
// reserve on the destination chain, less his margin and expenses, and swaps into the token that is wanted.
// [Estimator.Estimate] is the walk: routes finds the pairs of reserves (route.go), each is followed to its end
// (estimate.go) with the swaps that package quote compares (leg.go), a taker's costs (expenses.go) and the arithmetic
// of amounts, which is pure (arithmetic.go, costs.go); the one that leaves most is the answer.
package crosschain
