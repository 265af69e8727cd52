// Package list maintains the table in which lists of orders and swaps are searched, and finds parts of such lists.
//
// Orders and swaps are rows of one table, listed, with indexes by address, referral code and time. Chains, states and
// trade type have few values: together they are a row's cell, one number in every index. Rows are counted by cell and
// period when they are written (listed_counts), so that a total is a sum, a deep part of a list starts with the period
// that it is in, and rare rows are read by their cells.
package list
