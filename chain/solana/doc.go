// Package solana is Solana's wire format: transactions, the addresses of programs' accounts and the compute budget.
// It is pure, knows no order and no swap, and asks nobody.
//
// A transaction comes in two forms. [ParseSigned] reads one from the chain and believes it only when its fee payer
// signed it; [Message.Resolve] then names the accounts that come from address lookup tables and joins the instructions
// that others called, which gives a [Transaction] for order/onchain to decode. [ParseUnsigned] reads one that a venue
// made and the sender has yet to sign; upstream/solana guards it, and quote reads from its [Budget] what it pays. A
// [Draft] makes one of a venue's instructions.
//
// [Reader] is below both, and below the borsh that order/onchain reads.
package solana
