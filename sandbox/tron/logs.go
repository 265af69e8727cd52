package tron

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/ethereum/go-ethereum/common/hexutil"
)

// Limits of one search, by default in java-tron's configuration (maxBlockRange, maxAddressSize, maxSubTopics) and in
// its LogBlockQuery.MAX_RESULT.
const (
	maxBlockRange = 5000
	maxAddresses  = 1000
	maxTopics     = 1000
	maxLogs       = 10_000
)

type filter struct {
	FromBlock, ToBlock string
	BlockHash, Address json.RawMessage
	Topics             []json.RawMessage
}

func (s *server) logs(ctx context.Context, parameter json.RawMessage) (any, error) {
	var asked filter
	if json.Unmarshal(parameter, &asked) != nil {
		return nil, invalidParams("method parameters invalid")
	}
	from, to, err := s.span(ctx, asked)
	if err != nil {
		return nil, err
	}
	addresses, err := asked.addresses()
	if err != nil {
		return nil, err
	}
	if err := asked.checkTopics(); err != nil {
		return nil, err
	}
	found := []object{}
	if from > to {
		return found, nil
	}
	search := map[string]any{
		"fromBlock": hexutil.Uint64(from), "toBlock": hexutil.Uint64(to), "address": addresses, "topics": asked.Topics,
	}
	if err := s.node.CallContext(ctx, &found, "eth_getLogs", search); err != nil {
		return nil, err
	}
	if len(found) > maxLogs {
		return nil, refusal(limitExceeded, fmt.Sprintf("query returned more than %d results", maxLogs))
	}
	for _, log := range found {
		log.rehash("blockHash", log.number("blockNumber"))
	}
	return found, nil
}

// span returns the blocks to search, up to the newest one.
func (s *server) span(ctx context.Context, asked filter) (from, to uint64, err error) {
	var head hexutil.Uint64
	if err := s.node.CallContext(ctx, &head, "eth_blockNumber"); err != nil {
		return 0, 0, err
	}
	if asked.BlockHash != nil {
		if asked.FromBlock != "" || asked.ToBlock != "" {
			return 0, 0, invalidParams("cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other")
		}
		var id hash
		if id.UnmarshalText([]byte(text(asked.BlockHash))) == nil {
			if found, _ := s.blockByHash(ctx, id, false); found != nil {
				number := found.number("number")
				return number, number, nil
			}
		}
		return 0, 0, invalidParams("invalid blockHash")
	}
	if from, err = s.number(ctx, asked.FromBlock, uint64(head)); err != nil {
		return 0, 0, err
	}
	if to, err = s.number(ctx, asked.ToBlock, uint64(head)); err != nil {
		return 0, 0, err
	}
	if from > to && asked.FromBlock != "" && asked.ToBlock != "" {
		return 0, 0, invalidParams("please verify: fromBlock <= toBlock")
	}
	to = min(to, uint64(head))
	if from <= to && to-from > maxBlockRange {
		return 0, 0, invalidParams(fmt.Sprintf("exceed max block range: %d", maxBlockRange))
	}
	return from, to, nil
}

// number returns the number of a block given by number or tag. An empty name is the head.
func (s *server) number(ctx context.Context, named string, head uint64) (uint64, error) {
	if named == "" || named == "latest" {
		return head, nil
	}
	var at height
	if err := at.UnmarshalText([]byte(named)); err != nil {
		return 0, err
	}
	if number, err := hexutil.DecodeUint64(string(at)); err == nil {
		return number, nil
	}
	found, err := s.blockAt(ctx, at, false)
	if err != nil || found == nil {
		return 0, err
	}
	return found.number("number"), nil
}

// addresses parses one address or a list.
func (f filter) addresses() ([]address, error) {
	var several []string
	if f.Address != nil && json.Unmarshal(f.Address, &several) != nil {
		several = []string{text(f.Address)}
	}
	if len(several) > maxAddresses {
		return nil, invalidParams(fmt.Sprintf("exceed max addresses: %d", maxAddresses))
	}
	addresses := make([]address, len(several))
	for i, each := range several {
		if addresses[i].UnmarshalText([]byte(each)) != nil {
			return nil, invalidParams(fmt.Sprintf("invalid address at index %d: [%s]", i, each))
		}
	}
	return addresses, nil
}

func (f filter) checkTopics() error {
	if len(f.Topics) > 4 {
		return invalidParams("topics size should be <= 4")
	}
	for _, slot := range f.Topics {
		var several []json.RawMessage
		if json.Unmarshal(slot, &several) == nil && len(several) > maxTopics {
			return invalidParams(fmt.Sprintf("exceed max topics: %d", maxTopics))
		}
	}
	return nil
}
