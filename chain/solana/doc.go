// Package solana implements Solana's wire format: transactions, addresses of programs' accounts and the compute budget.
// It is pure.
//
// [ParseSigned] parses a transaction of the chain and verifies its fee payer's signature; [Message.Resolve] adds the
// accounts of address lookup tables and inner instructions to make a [Transaction], which order/onchain decodes.
// [ParseUnsigned] parses a venue's transaction that the sender has yet to sign; upstream/solana guards it, and quote
// reads its [Budget]. A [Draft] is compiled to one. All use [Reader], and so does order/onchain for borsh.
package solana
