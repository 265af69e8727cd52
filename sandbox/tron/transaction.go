package tron

import (
	"context"
	"encoding/json"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// transaction is java-tron's TransactionResult: always a legacy one, and gas is the energy it used, not a limit.
type transaction struct {
	Hash        common.Hash     `json:"hash"`
	BlockHash   *common.Hash    `json:"blockHash"`
	BlockNumber *hexutil.Uint64 `json:"blockNumber"`
	Index       *hexutil.Uint64 `json:"transactionIndex"`
	From        common.Address  `json:"from"`
	To          *common.Address `json:"to"`
	Value       *hexutil.Big    `json:"value"`
	Gas         hexutil.Uint64  `json:"gas"`
	GasPrice    hexutil.Uint64  `json:"gasPrice"`
	Input       hexutil.Bytes   `json:"input"`
	Type        hexutil.Uint64  `json:"type"`
	Nonce       hexutil.Bytes   `json:"nonce"`
	V           hexutil.Uint64  `json:"v"`
	R           *hexutil.Big    `json:"r"`
	S           *hexutil.Big    `json:"s"`
}

// receipt is java-tron's TransactionReceipt, the same members as Ethereum's.
type receipt struct {
	BlockHash         common.Hash     `json:"blockHash"`
	BlockNumber       hexutil.Uint64  `json:"blockNumber"`
	TransactionHash   common.Hash     `json:"transactionHash"`
	TransactionIndex  hexutil.Uint64  `json:"transactionIndex"`
	From              common.Address  `json:"from"`
	To                *common.Address `json:"to"`
	CumulativeGasUsed hexutil.Uint64  `json:"cumulativeGasUsed"`
	GasUsed           hexutil.Uint64  `json:"gasUsed"`
	EffectiveGasPrice hexutil.Uint64  `json:"effectiveGasPrice"`
	ContractAddress   *common.Address `json:"contractAddress"`
	Logs              []log           `json:"logs"`
	LogsBloom         hexutil.Bytes   `json:"logsBloom"`
	Status            hexutil.Uint64  `json:"status"`
	Type              hexutil.Uint64  `json:"type"`
}

// log is an event log; java-tron's has the block's time, as Ethereum's has lately.
type log struct {
	Address          common.Address `json:"address"`
	BlockHash        common.Hash    `json:"blockHash"`
	BlockNumber      hexutil.Uint64 `json:"blockNumber"`
	BlockTimestamp   hexutil.Uint64 `json:"blockTimestamp"`
	TransactionHash  common.Hash    `json:"transactionHash"`
	TransactionIndex hexutil.Uint64 `json:"transactionIndex"`
	LogIndex         hexutil.Uint64 `json:"logIndex"`
	Removed          bool           `json:"removed"`
	Topics           []common.Hash  `json:"topics"`
	Data             hexutil.Bytes  `json:"data"`
}

func (s *server) receipt(ctx context.Context, id hash) (any, error) {
	found, err := s.receiptOf(ctx, id)
	if err != nil || found == nil {
		return nil, err
	}
	return found, nil
}

func (s *server) receiptOf(ctx context.Context, id hash) (*receipt, error) {
	var found *receipt
	if err := s.node.CallContext(ctx, &found, "eth_getTransactionReceipt", id); err != nil || found == nil {
		return nil, err
	}
	found.BlockHash = BlockHash(uint64(found.BlockNumber), found.BlockHash)
	found.EffectiveGasPrice, found.LogsBloom, found.Type = EnergyPrice, nothing.bloom, 0
	reshape(found.Logs)
	return found, nil
}

func reshape(logs []log) {
	for i := range logs {
		logs[i].BlockHash = BlockHash(uint64(logs[i].BlockNumber), logs[i].BlockHash)
	}
}

func (s *server) transaction(ctx context.Context, id hash) (any, error) {
	var sent *struct {
		transaction
		Nonce json.RawMessage `json:"nonce"` // in another form
	}
	if err := s.node.CallContext(ctx, &sent, "eth_getTransactionByHash", id); err != nil || sent == nil {
		return nil, err
	}
	found := sent.transaction
	found.Gas, found.GasPrice, found.Type, found.Nonce = 0, EnergyPrice, 0, nothing.nonce
	found.V = 27 + found.V%2 // as before EIP-155
	if found.BlockHash == nil {
		return found, nil
	}
	*found.BlockHash = BlockHash(uint64(*found.BlockNumber), *found.BlockHash)
	spent, err := s.receiptOf(ctx, id)
	if err != nil || spent == nil {
		return nil, err
	}
	found.Gas = spent.GasUsed
	return found, nil
}
