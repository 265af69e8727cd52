// Package list keeps what lists of orders and swaps are searched by, and finds parts of such lists.
//
// Orders and swaps are rows of one table, listed, each found by an index of what names it: who has a part in it, its
// referral code, or its time. Everything else that a filter may ask for, chains and states for instance, has few values:
// all of them together are a row's cell. How many rows of each cell came in each period is counted when rows are
// written (listed_counts), so that a total is a sum, a deep part of a list begins with the period that it is in, and
// what is rare is read by its cells.
package list
