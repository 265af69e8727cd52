package order

import "crossgate/chain"

// TellerSource is a Source that remembers the endpoints that transactions were read from.
type TellerSource interface {
	// Tellers returns the names of the endpoints whose word on a transaction with events, in the block with a hash, was
	// taken, each once: none where that is not remembered, as after a restart.
	Tellers(tx chain.TxHash, block chain.Hash) []string
}
