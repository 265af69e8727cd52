package tron

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
)

// BlockHash converts a block's hash to TRON's form, whose first eight bytes are the block's number.
func BlockHash(number uint64, hash common.Hash) common.Hash {
	binary.BigEndian.PutUint64(hash[:8], number)
	return hash
}

// object is an answer of the underlying node while it is converted to TRON's shape.
type object map[string]any

// only removes all other members.
func (o object) only(names ...string) {
	maps.DeleteFunc(o, func(name string, _ any) bool { return !slices.Contains(names, name) })
}

func (o object) number(name string) uint64 {
	n, _ := hexutil.DecodeUint64(fmt.Sprint(o[name])) // null becomes zero
	return n
}

// rehash converts the hash of the block with a number to TRON's form.
func (o object) rehash(name string, number uint64) {
	o[name] = BlockHash(number, common.HexToHash(fmt.Sprint(o[name])))
}

// The values with which java-tron fills members that TRON does not have.
var (
	noNonce = hexutil.Bytes(make([]byte, 8))
	noWord  = common.Hash{}
	noBloom = types.Bloom{}
	noBytes = hexutil.Bytes{}
)

const zero = hexutil.Uint64(0)

// lacking holds the members of a block that TRON does not have. Transactions have limits in sun, so that a block has no
// energy limit.
var lacking = object{
	"nonce": noNonce, "sha3Uncles": noWord, "logsBloom": noBloom, "stateRoot": noBytes, "receiptsRoot": noWord,
	"difficulty": zero, "totalDifficulty": zero, "extraData": noBytes, "gasLimit": zero, "uncles": []common.Hash{},
	"baseFeePerGas": zero, "mixHash": noWord,
}

func (s *server) blockByHash(ctx context.Context, wanted hash, whole flag) (object, error) {
	at := height(hexutil.EncodeUint64(binary.BigEndian.Uint64(wanted.Hash[:8])))
	found, err := s.blockAt(ctx, at, whole)
	if found["hash"] != wanted.Hash {
		return nil, err
	}
	return found, err
}

// blockAt returns the block at a number or tag, or nil if there is none. If whole, it has transactions instead of their
// hashes.
func (s *server) blockAt(ctx context.Context, at height, whole flag) (object, error) {
	var found object
	if err := s.node.CallContext(ctx, &found, "eth_getBlockByNumber", at, false); err != nil || found == nil {
		return nil, err
	}
	found.only("number", "hash", "parentHash", "miner", "timestamp", "size", "gasUsed", "transactionsRoot", "transactions")
	number := found.number("number")
	found.rehash("hash", number)
	if number > 0 {
		found.rehash("parentHash", number-1)
	}
	maps.Copy(found, lacking)
	if !whole {
		return found, nil
	}
	transactions, _ := found["transactions"].([]any)
	for i, id := range transactions {
		var err error
		if transactions[i], err = s.transaction(ctx, hash{common.HexToHash(fmt.Sprint(id))}); err != nil {
			return nil, err
		}
	}
	return found, nil
}
