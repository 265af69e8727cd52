// Package index answers which orders a transaction created, what became of them, and what is locked for a taker: from
// its own store, which follows the chains, and from the chains themselves where the store does not reach.
//
// Each chain has a follower, a goroutine of Index.Run. It polls the chain's head, less often where heads are
// announced (announce.go), compares the blocks that were read with it (settle) and reads on range by range (readOn,
// inSequence), after a reorg from the fork: events, their fold and the checkpoint go into the database in one
// transaction, with the withdrawal of what they replace. Final blocks are read a second time (prove), and the store
// is corrected where the first reading was wrong; a block that nobody can read is left out and asked for again
// (quarantine.go). Of several processes on one PostgreSQL, the holder of a lease leads and the others watch. What
// others read of a follower is its syncState, under one lock. Backfill reads what is before the first block that was
// followed; Import stores single orders from there.
//
// Swaps within a chain are events that go the same way, into a table of their own (swap_store.go).
//
// A request calls Find, ByID, Locked or List, or their likes for swaps, from any goroutine. Find reads the store, asks
// all chains that could know the transaction if the store does not (traceCreation), and completes each order from the
// histories of its two chains unless their followers are level (complete). Locked reads the store alone, and asks give
// chains to confirm what it cannot be sure of (confirm). While a chain is in doubt, since a head does not descend from
// the blocks that were read, Find asks the chain and Locked waits.
//
// Every answer comes with its Basis: what it was read from, by which others can show how fresh it is and keep it for as
// long as it holds. What ends answers by name is reported to an Observer.
package query
