// Package stats values orders in USD and sums them up by day and pair of chains.
//
// Writers of orders mark them as uncounted. Later one replica values these orders (Count), at prices that it asks for
// outside of transactions, and keeps each order's share of the statistics as a row of order_values. A
// day with a changed row is stale, and summed up anew from its rows (SumUp).
package stats
