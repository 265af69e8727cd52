// Package solana is the sandbox's Solana: a ledger of slots, transactions and accounts behind
// Solana's own JSON-RPC. Nothing is executed by a virtual machine. The order protocol's programs are
// state machines in Go that keep its rules and leave what the real programs leave: signed transactions
// in wire form, inner instructions, logs with Anchor events, and accounts.
//
// Layouts, discriminators and derived addresses follow the public IDLs of dln_src and dln_dst 3.0.0
// (debridge-finance/solana-tx-parser-public, tests/idl) and @debridge-finance/solana-utils. What those
// do not describe, such as the arguments of the debridge program, is the sandbox's own.
//
// Beside them are pools that venues swap through. What swaps need runs by accounts and data alone, so that
// transactions from outside can be tried and sent.
package solana
