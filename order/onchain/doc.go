// Package onchain reads what chains say about orders, and about swaps within a chain: the logs and calls of EVM
// contracts, and the instructions, logs and accounts of Solana's programs. It is pure: adapters in upstream fetch the
// bytes and pass them in.
//
// [Decode] turns the logs of an EVM transaction into facts, [DecodeSolana] a transaction of Solana; both return [Found]
// values, each an order.Fact with the order that it belongs to and its position, from which order.Fold makes the order.
// A swap is one fact whole (swap.go).
// Events of other contracts are passed over; an unreadable event of the protocol is an error, since an order must not
// stand still unnoticed. An order's [ID] is computed from its terms and never believed.
//
// On Solana a program reports its actions in logs (solana_log.go) and an instruction is named by its discriminator
// (solana_instruction.go); solana_read.go has one reader for each kind. Calls to contracts and the accounts of orders
// are made here as well, so that one package knows the layout of both directions.
package onchain
