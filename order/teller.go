package order

import "crossgate/chain"

// TellerSource is a Source that remembers which endpoints transactions were read from.
type TellerSource interface {
	// Tellers returns the names of the endpoints, each once, that a transaction with events in the block with the given
	// hash was read from; none if that is not remembered, as after a restart.
	Tellers(tx chain.TxHash, block chain.Hash) []string
}
