// Package chain is the vocabulary of everything on a chain: ids, families, addresses, transaction
// hashes and amounts, parsed once at the edge and comparable everywhere inside.
package chain
