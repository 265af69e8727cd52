// Package solana is the sandbox's Solana: a ledger of slots, transactions and accounts behind Solana's own JSON-RPC.
//
// No virtual machine executes anything. The programs are state machines in Go that keep the real ones' rules and
// leave what those leave: signed transactions in wire form, inner instructions, logs with Anchor events, and
// accounts. There are two kinds. Those of the order protocol (source.go, destination.go, debridge.go, executor.go)
// run only in transactions that the ledger makes itself, so that their instructions carry what they do. The
// runtime's, the tokens', the pools', Jupiter's and DFlow's (the table in program.go) run by accounts and data
// alone, so that transactions from outside can be simulated and sent.
//
// An order's step walks so: an exported method such as [Chain.Fulfil] makes instructions, Way.draft wraps them,
// draft.compile lays their accounts out as a message, send signs it and runs it in an execution, which logs every
// invocation, and keep puts it into a block. What it wrote is remembered with what was there before: that is how the
// state at an older slot is found and how a reorg takes transactions back. A swap walks from [Chain.Best] to an
// Unsigned transaction and returns by sendTransaction.
//
// A Chain may be used from any goroutine. Exported methods and JSON-RPC calls take its lock, sendTransaction for
// writing, the others for reading; what is not exported runs under the lock of its caller.
//
// Layouts, discriminators and derived addresses follow the public IDLs of dln_src and dln_dst 3.0.0
// (debridge-finance/solana-tx-parser-public, tests/idl) and @debridge-finance/solana-utils. What those
// do not describe, such as the arguments of the debridge program, is the sandbox's own.
package solana
