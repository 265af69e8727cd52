// Package stats values orders in USD and sums them up by day and pair of chains.
//
// Who writes an order notes its id in the table uncounted. Later one replica values these orders (Count), with prices
// that it asks for in between, and what each adds to the statistics is a row of order_values. A day of which a row has
// changed is stale, and summed up anew from its rows (SumUp).
package stats
