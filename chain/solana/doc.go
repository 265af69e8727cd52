// Package solana is Solana's wire format: transactions, addresses of programs' accounts and the compute budget. It is
// pure.
//
// [ParseSigned] reads a transaction of the chain and verifies its fee payer's signature; [Message.Resolve] adds the
// accounts of address lookup tables and inner instructions, which gives a [Transaction] for order/onchain to decode.
// [ParseUnsigned] reads one that a venue made and the sender has yet to sign; upstream/solana guards it, and quote
// reads its [Budget]. A [Draft] makes one of a venue's instructions. [Reader] is below both, and below the borsh that
// order/onchain reads.
package solana
