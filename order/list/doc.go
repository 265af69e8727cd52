// Package list keeps the table that lists of orders and swaps are searched by, and finds parts of such lists.
//
// Orders and swaps are rows of one table, listed, each found by an index of its people, its referral code, or its time.
// Chains, states and type of trade have few values: all of them together are a row's cell, one number in every index.
// Rows of each cell and period are counted when they are written (listed_counts), so that a total is a sum, a deep part
// of a list begins with the period that it is in, and rare rows are read by their cells.
package list
