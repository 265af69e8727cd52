package query

import (
	"crossgate/chain"
	"crossgate/order"
)

// Tellers returns the names of the endpoints that reported a transaction with events in the block with the given hash;
// none if that is not remembered.
func (x *Index) Tellers(id chain.ID, tx chain.TxHash, block chain.Hash) []string {
	source, remembers := x.Source(id).(order.TellerSource)
	if !remembers {
		return nil
	}
	return source.Tellers(tx, block)
}
