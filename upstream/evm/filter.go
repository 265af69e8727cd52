package evm

import (
	"errors"
	"fmt"
	"slices"

	"crossgate/chain"
	"crossgate/order/onchain"
	"crossgate/upstream/jsonrpc"
)

// logFilter selects logs of a range of blocks, or of one block by its hash (EIP-234).
type logFilter struct {
	From    *quantity       `json:"fromBlock,omitempty"`
	To      *quantity       `json:"toBlock,omitempty"`
	Block   *chain.Hash     `json:"blockHash,omitempty"`
	Address []chain.Address `json:"address"`
	Topics  [][]chain.Hash  `json:"topics,omitempty"`
}

var orderTopics = onchain.Topics()

const getLogs = "eth_getLogs"

// searchByTopics has logs of the order protocol searched for. Where no endpoint filters by so many topics it has them
// searched for without, which gives all logs of the contracts; see ofProtocol.
func (c *Chain) searchByTopics(search func(topics [][]chain.Hash) error) error {
	if !c.rpc.Lacks(getLogs, jsonrpc.Topics) {
		err := search([][]chain.Hash{orderTopics})
		_, isRefused := jsonrpc.Said(err, func(said *jsonrpc.Error) bool { return said.Meaning() == jsonrpc.FieldMissing })
		if !isRefused || !c.rpc.Lacks(getLogs, jsonrpc.Topics) {
			return err
		}
	}
	return search(nil)
}

// call asks for the logs that the filter selects, with the reach of its first block.
func (f logFilter) call(out *[]log, reach jsonrpc.Reach) *jsonrpc.Call {
	asked := jsonrpc.NewCall(out, f.accepts, getLogs, f)
	asked.Reach = reach
	if len(f.Topics) > 0 {
		asked.Reach.Field = jsonrpc.Topics
	}
	return asked
}

// isOfProtocol reports whether a log is one of the order protocol's by its first topic.
func (l *log) isOfProtocol() bool {
	return len(l.Topics) > 0 && slices.Contains(orderTopics, l.Topics[0])
}

// ofProtocol leaves out other logs. The list itself may be another caller's, too.
func ofProtocol(logs []log) []log {
	var own []log
	for _, l := range logs {
		if l.isOfProtocol() {
			own = append(own, l)
		}
	}
	return own
}

// accepts refuses logs that were not asked for.
func (f logFilter) accepts(logs []log) error {
	if logs == nil {
		return errors.New("no list of logs") // some gateways answer null when something fails
	}
	for i, l := range logs {
		switch {
		case f.Block == nil && (l.BlockNumber < *f.From || l.BlockNumber > *f.To):
			return fmt.Errorf("log of block %d, outside of %d to %d", l.BlockNumber, *f.From, *f.To)
		case f.Block != nil && l.BlockHash != *f.Block:
			return errors.New("log of another block")
		case !slices.Contains(f.Address, l.Address):
			return errors.New("log of another contract")
		case l.TransactionHash.IsAbsent() || l.BlockHash.IsAbsent() || l.Removed:
			return errors.New("log that is in no block")
		case i > 0 && (l.BlockNumber < logs[i-1].BlockNumber || l.BlockNumber == logs[i-1].BlockNumber && l.Index <= logs[i-1].Index):
			return errors.New("logs out of order")
		}
	}
	return nil
}
