// Package stats values orders in USD and sums them up by day and pair of chains.
//
// Writers of orders mark them as uncounted. One replica later values these orders (Count), at prices that it obtains
// outside of transactions, and stores each order's contribution as a row of order_values. A day with a changed row is
// stale until it is summed up again from its rows (SumUp).
package stats
