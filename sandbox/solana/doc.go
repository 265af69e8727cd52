// Package solana is the sandbox's Solana: a ledger of slots, transactions and accounts behind Solana's own JSON-RPC.
//
// No virtual machine executes anything. The programs are state machines in Go that follow the real ones' rules and
// leave the same traces: signed transactions in wire form, inner instructions, logs with Anchor events, and accounts.
// There are two kinds. Those of the order protocol (source.go, destination.go, debridge.go, executor.go) run only in
// transactions that the ledger makes itself, so that their instructions carry what they do. The runtime's, the tokens',
// the pools', Jupiter's and DFlow's (the table in program.go) run by accounts and data only, so that transactions from
// outside can be simulated and sent.
//
// A step of an order takes this path: an exported method such as [Chain.Fulfil] makes instructions, Way.draft wraps
// them, draft.compile lays out their accounts as a message, send signs it and runs it in an execution, which logs every
// invocation, and keep adds it to a block. The ledger remembers what each write replaced, which is how it finds the
// state at an older slot and how a reorg reverts transactions. A swap goes from [Chain.Best] to an Unsigned transaction
// and returns by sendTransaction.
//
// A Chain may be used from any goroutine. Exported methods and JSON-RPC calls take its lock, sendTransaction for
// writing, other calls for reading; unexported functions run under their caller's lock.
//
// Layouts, discriminators and derived addresses follow the public IDLs of dln_src and dln_dst 3.0.0
// (debridge-finance/solana-tx-parser-public, tests/idl) and @debridge-finance/solana-utils. Whatever those leave out,
// such as the arguments of the debridge program, is the sandbox's own.
package solana
