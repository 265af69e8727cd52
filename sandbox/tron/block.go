package tron

import (
	"context"
	"encoding/binary"
	"encoding/json"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
)

// BlockHash is a block's hash as TRON forms it: its first eight bytes are the block's number.
func BlockHash(number uint64, hash common.Hash) common.Hash {
	binary.BigEndian.PutUint64(hash[:8], number)
	return hash
}

// nothing is how java-tron fills members that TRON has no value for.
var nothing = struct {
	nonce, word, bloom hexutil.Bytes
}{make([]byte, 8), make([]byte, common.HashLength), make([]byte, types.BloomByteLength)}

// block is a block as Ethereum and java-tron both write it; what TRON lacks is added by shape.
type block struct {
	Number           hexutil.Uint64    `json:"number"`
	Hash             common.Hash       `json:"hash"`
	ParentHash       common.Hash       `json:"parentHash"`
	Miner            common.Address    `json:"miner"`
	Timestamp        hexutil.Uint64    `json:"timestamp"`
	Size             hexutil.Uint64    `json:"size"`
	GasUsed          hexutil.Uint64    `json:"gasUsed"`
	TransactionsRoot common.Hash       `json:"transactionsRoot"`
	Transactions     []json.RawMessage `json:"transactions"`
}

// shaped is java-tron's BlockResult. Limits of TRON's transactions are in sun, so that a block has none in
// energy.
type shaped struct {
	block
	Nonce           hexutil.Bytes  `json:"nonce"`
	Sha3Uncles      hexutil.Bytes  `json:"sha3Uncles"`
	LogsBloom       hexutil.Bytes  `json:"logsBloom"`
	StateRoot       hexutil.Bytes  `json:"stateRoot"`
	ReceiptsRoot    hexutil.Bytes  `json:"receiptsRoot"`
	Difficulty      hexutil.Uint64 `json:"difficulty"`
	TotalDifficulty hexutil.Uint64 `json:"totalDifficulty"`
	ExtraData       hexutil.Bytes  `json:"extraData"`
	GasLimit        hexutil.Uint64 `json:"gasLimit"`
	Uncles          []common.Hash  `json:"uncles"`
	BaseFeePerGas   hexutil.Uint64 `json:"baseFeePerGas"`
	MixHash         hexutil.Bytes  `json:"mixHash"`
}

func (s *server) blockByNumber(ctx context.Context, at height, whole flag) (any, error) {
	found, err := s.blockAt(ctx, at, whole)
	if err != nil || found == nil {
		return nil, err
	}
	return found, nil
}

func (s *server) blockByHash(ctx context.Context, wanted hash, whole flag) (any, error) {
	at := height(hexutil.EncodeUint64(binary.BigEndian.Uint64(wanted.Hash[:8])))
	found, err := s.blockAt(ctx, at, whole)
	if err != nil || found == nil || found.Hash != wanted.Hash {
		return nil, err
	}
	return found, nil
}

// blockAt returns the block of a number or tag, nil when there is none.
func (s *server) blockAt(ctx context.Context, at height, whole flag) (*shaped, error) {
	var found *block
	if err := s.node.CallContext(ctx, &found, "eth_getBlockByNumber", at, false); err != nil || found == nil {
		return nil, err
	}
	number := uint64(found.Number)
	found.Hash = BlockHash(number, found.Hash)
	if number > 0 {
		found.ParentHash = BlockHash(number-1, found.ParentHash)
	}
	if whole {
		if err := s.fill(ctx, found.Transactions); err != nil {
			return nil, err
		}
	}
	return &shaped{
		block: *found, Nonce: nothing.nonce, Sha3Uncles: nothing.word, LogsBloom: nothing.bloom, StateRoot: hexutil.Bytes{},
		ReceiptsRoot: nothing.word, ExtraData: hexutil.Bytes{}, Uncles: []common.Hash{}, MixHash: nothing.word,
	}, nil
}

// fill replaces hashes of transactions by the transactions.
func (s *server) fill(ctx context.Context, transactions []json.RawMessage) error {
	for i, each := range transactions {
		var id hash
		if err := json.Unmarshal(each, &id.Hash); err != nil {
			return err
		}
		found, err := s.transaction(ctx, id)
		if err != nil {
			return err
		}
		if transactions[i], err = json.Marshal(found); err != nil {
			return err
		}
	}
	return nil
}
