package tron

import (
	"context"

	"github.com/ethereum/go-ethereum/common/hexutil"
)

// receipt returns java-tron's TransactionReceipt, which has the same members as Ethereum's.
func (s *server) receipt(ctx context.Context, id hash) (object, error) {
	var found object
	if err := s.node.CallContext(ctx, &found, "eth_getTransactionReceipt", id); err != nil || found == nil {
		return nil, err
	}
	found.rehash("blockHash", found.number("blockNumber"))
	found["effectiveGasPrice"], found["logsBloom"], found["type"] = hexutil.Uint64(EnergyPrice), noBloom, zero
	logs, _ := found["logs"].([]any)
	for _, each := range logs {
		if log, ok := each.(map[string]any); ok {
			object(log).rehash("blockHash", object(log).number("blockNumber"))
		}
	}
	return found, nil
}

// transaction returns java-tron's TransactionResult: always a legacy one, with the energy used as gas, not a limit.
func (s *server) transaction(ctx context.Context, id hash) (object, error) {
	var found object
	if err := s.node.CallContext(ctx, &found, "eth_getTransactionByHash", id); err != nil || found == nil {
		return nil, err
	}
	found.only("hash", "blockHash", "blockNumber", "transactionIndex", "from", "to", "value", "gas", "gasPrice", "input",
		"type", "nonce", "v", "r", "s")
	found["gas"], found["gasPrice"], found["type"], found["nonce"] = zero, hexutil.Uint64(EnergyPrice), zero, noNonce
	found["v"] = hexutil.Uint64(27 + found.number("v")%2) // as before EIP-155
	if found["blockHash"] == nil {
		return found, nil
	}
	found.rehash("blockHash", found.number("blockNumber"))
	spent, err := s.receipt(ctx, id)
	if err != nil || spent == nil {
		return nil, err
	}
	found["gas"] = spent["gasUsed"]
	return found, nil
}
