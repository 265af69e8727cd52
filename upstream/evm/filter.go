package evm

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"crossgate/chain"
	"crossgate/order/onchain"
	"crossgate/upstream/jsonrpc"
)

// logFilter selects logs of a range of blocks, or of one block by its hash (EIP-234).
type logFilter struct {
	From    *Quantity       `json:"fromBlock,omitempty"`
	To      *Quantity       `json:"toBlock,omitempty"`
	Block   *chain.Hash     `json:"blockHash,omitempty"`
	Address []chain.Address `json:"address"`
	Topics  [][]chain.Hash  `json:"topics,omitempty"`
}

var orderTopics = onchain.Topics()

const getLogs = "eth_getLogs"

// refinements are the parameters of a search, besides its blocks, that not all endpoints accept.
type refinements struct {
	topics    [][]chain.Hash    // nil: all logs of the contracts, see ofProtocol
	contracts [][]chain.Address // of each search: all or, if several are rejected, one
}

// searchBy runs a search for logs of the order protocol. If no endpoint accepts as many topics, it searches without
// them; if none accepts several addresses, for one contract after another.
func (c *Chain) searchBy(contracts []chain.Address, search func(refinements) error) error {
	for {
		lacksTopics, lacksAddresses := c.rpc.Lacks(getLogs, jsonrpc.Topics), c.rpc.Lacks(getLogs, jsonrpc.Addresses)
		r := refinements{topics: [][]chain.Hash{orderTopics}, contracts: [][]chain.Address{contracts}}
		if lacksTopics {
			r.topics = nil
		}
		if lacksAddresses {
			r.contracts = slices.Collect(slices.Chunk(contracts, 1))
		}
		err := search(r)
		_, isRefused := jsonrpc.Said(err, func(said *jsonrpc.Error) bool { return said.Meaning() == jsonrpc.FieldMissing })
		isNew := lacksTopics != c.rpc.Lacks(getLogs, jsonrpc.Topics) || lacksAddresses != c.rpc.Lacks(getLogs, jsonrpc.Addresses)
		if !isRefused || !isNew {
			return err
		}
	}
}

// call returns a call for the logs that the filter selects; reach is that of its first block.
func (f logFilter) call(out *[]log, reach jsonrpc.Reach) *jsonrpc.Call {
	asked := jsonrpc.NewCall(out, nil, getLogs, f)
	asked.Accept = func(result any) error {
		list := result.(*[]log)
		*list = distinct(*list)
		return f.accepts(*list)
	}
	asked.Reach = reach
	if len(f.Topics) > 0 {
		asked.Reach.Fields = append(asked.Reach.Fields, jsonrpc.Topics)
	}
	if len(f.Address) > 1 {
		asked.Reach.Fields = append(asked.Reach.Fields, jsonrpc.Addresses)
	}
	return asked
}

// merged returns the logs of several searches of the same blocks, in block and log order.
func merged(lists [][]log) []log {
	if len(lists) == 1 {
		return lists[0]
	}
	logs := slices.Concat(lists...)
	slices.SortStableFunc(logs, func(a, b log) int {
		return cmp.Or(cmp.Compare(a.BlockNumber, b.BlockNumber), cmp.Compare(a.Index, b.Index))
	})
	return logs
}

// isOfProtocol reports whether a log belongs to the order protocol by its first topic.
func (l *log) isOfProtocol() bool {
	return len(l.Topics) > 0 && slices.Contains(orderTopics, l.Topics[0])
}

// ofProtocol returns the order protocol's logs among those that an endpoint listed. It leaves the list unchanged, since
// other callers may share it.
func ofProtocol(logs []log, by string) []log {
	var own []log
	for _, l := range logs {
		if l.isOfProtocol() {
			l.by = by
			own = append(own, l)
		}
	}
	return own
}

// distinct removes consecutive duplicates of logs: some providers repeat them when they join partial lists.
func distinct(list []log) []log {
	return slices.CompactFunc(list, func(a, b log) bool { return a.Index == b.Index && reflect.DeepEqual(a, b) })
}

func (f logFilter) accepts(logs []log) error {
	for i, l := range logs {
		switch {
		case f.Block == nil && (l.BlockNumber < *f.From || l.BlockNumber > *f.To):
			return fmt.Errorf("log of block %d, outside of %d to %d", l.BlockNumber, *f.From, *f.To)
		case f.Block != nil && l.BlockHash != *f.Block:
			return errors.New("log of another block")
		case !slices.Contains(f.Address, l.Address):
			return errors.New("log of another contract")
		case l.TransactionHash.IsAbsent() || l.BlockHash.IsAbsent() || l.Removed || l.Index>>32 > 0:
			return errors.New("log that is in no block")
		case i > 0 && (l.BlockNumber < logs[i-1].BlockNumber || l.BlockNumber == logs[i-1].BlockNumber && l.Index <= logs[i-1].Index):
			return errors.New("logs out of order")
		}
	}
	return nil
}
