// Package onchain decodes what chains report about orders, and about swaps within a chain: the logs and calls of EVM
// contracts, and the instructions, logs and accounts of Solana's programs. It is pure: adapters in upstream fetch the
// bytes and pass them in.
//
// [Decode] turns the logs of an EVM transaction into facts, [DecodeSolana] a transaction on Solana. Both return [Found]
// values, each an order.Fact with its order and position, from which order.Fold builds the order. A swap is a single
// fact (swap.go). Events of other contracts are ignored; an event of the protocol that cannot be decoded is an error,
// since an order must not silently stop progressing. An order's [ID] is always computed from its terms, never taken on
// trust.
//
// On Solana a program reports its actions in logs (solana_log.go), and a discriminator identifies an instruction
// (solana_instruction.go, with one reader for each kind). This package also encodes calls to contracts
// and derives the accounts of orders, so that one package knows the layouts of both directions.
package onchain
