// Package onchain reads orders in each ledger's own bytes: event logs and storage answers of the DLN
// contracts become facts about orders. It is pure and asks no chain.
package onchain
