package evm

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"

	"crossgate/chain"
	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

const getBlockReceipts = "eth_getBlockReceipts"

// errUnproven says that receipts are not those of their block by its header's root, or that the chain makes that root
// in a way of its own.
var errUnproven = errors.New("receipts do not give the root in their block's header")

// errUnserved says that no endpoint has the method by which a block's receipts are asked for.
var errUnserved = errors.New("no endpoint has " + getBlockReceipts)

// isWithoutReceipts reports whether an error of receiptsOf says that endpoints do not give receipts that prove what the
// block holds, rather than that they could not be asked.
func isWithoutReceipts(err error) bool {
	return errors.Is(err, errUnproven) || errors.Is(err, errUnserved) || errors.As(err, new(*jsonrpc.Error))
}

// blockReceipt is a receipt with what its block's receiptsRoot is made of (Ethereum yellow paper, section 4.3.1;
// EIP-2718; for deposits the OP stack's specification, "deposit receipt").
type blockReceipt struct {
	receipt
	Type           Quantity  `json:"type"`
	State          Payload   `json:"root"` // before Byzantium, in place of the status
	CumulativeGas  Quantity  `json:"cumulativeGasUsed"`
	DepositNonce   *Quantity `json:"depositNonce"`
	DepositVersion *Quantity `json:"depositReceiptVersion"`
}

// receiptsOf returns all receipts of a block, proven by the root in its header. errUnproven when no endpoint has
// receipts that give it; errUnserved, or the error object, when none has the method.
func (c *Chain) receiptsOf(ctx context.Context, h *header) ([]receipt, error) {
	if c.rpc.Lacks(getBlockReceipts, "") {
		return nil, errUnserved
	}
	var found *[]blockReceipt // nil where a node does not have the block
	asked := jsonrpc.NewCall(&found, func(told *[]blockReceipt) error {
		if told == nil {
			return &upstream.Error{Class: upstream.Rejected, Err: fmt.Errorf("node has not the receipts of block %d", h.Number)}
		}
		isSame := func(a, b blockReceipt) bool { return a.TransactionHash == b.TransactionHash }
		*told = slices.CompactFunc(*told, isSame) // some providers repeat one
		receipts := *told
		for i := range receipts {
			receipts[i].Logs = distinct(receipts[i].Logs)
			if receipts[i].BlockHash != h.Hash {
				return &upstream.Error{Class: upstream.Rejected, Err: errors.New("receipt of another block")}
			}
		}
		if root, err := receiptsRoot(receipts); err != nil || root != h.Receipts {
			return &upstream.Error{Class: upstream.Rejected, Err: errors.Join(errUnproven, err)}
		}
		return nil
	}, getBlockReceipts, h.Hash)
	asked.Reach = c.reach(uint64(h.Number))
	if err := c.rpc.All(ctx, asked); err != nil {
		return nil, err
	}
	receipts := make([]receipt, len(*found))
	for i, each := range *found {
		receipts[i] = each.receipt
		if slices.ContainsFunc(each.Logs, func(l log) bool { return l.isOfProtocol() }) {
			c.heardReceipt(&each.receipt, asked.By)
		}
	}
	return receipts, nil
}

// receiptsRoot is the root of the Merkle-Patricia trie of a block's receipts, keyed by their places.
func receiptsRoot(receipts []blockReceipt) (chain.Hash, error) {
	leaves := make([]leaf, len(receipts))
	for i := range receipts {
		encoded, err := receipts[i].encode()
		if err != nil {
			return chain.Hash{}, err
		}
		leaves[i] = leaf{nibbles(rlp.AppendUint64(nil, uint64(i))), encoded}
	}
	slices.SortFunc(leaves, func(a, b leaf) int { return bytes.Compare(a.path, b.path) })
	return trieRoot(leaves), nil
}

// encode writes the receipt as consensus has it.
func (r *blockReceipt) encode() ([]byte, error) {
	type consensusLog struct {
		Address []byte
		Topics  [][]byte
		Data    []byte
	}
	logs := make([]consensusLog, len(r.Logs))
	for i, l := range r.Logs {
		logs[i] = consensusLog{Address: l.Address.Bytes(), Data: l.Data}
		for _, topic := range l.Topics {
			logs[i].Topics = append(logs[i].Topics, topic[:])
		}
	}
	outcome := []byte(r.State)
	if r.Status != nil {
		outcome = binary.BigEndian.AppendUint64(nil, uint64(*r.Status))
		outcome = bytes.TrimLeft(outcome, "\x00")
	}
	fields := []any{outcome, uint64(r.CumulativeGas), r.Bloom[:], logs}
	const deposit = 0x7e
	if r.Type == deposit && r.DepositVersion != nil && r.DepositNonce != nil {
		fields = append(fields, uint64(*r.DepositNonce), uint64(*r.DepositVersion))
	}
	list, err := rlp.EncodeToBytes(fields)
	if err != nil || r.Type == 0 {
		return list, err
	}
	return append([]byte{byte(r.Type)}, list...), nil
}

// leaf is one entry of a trie.
type leaf struct {
	path  []byte // a nibble each
	value []byte
}

func nibbles(key []byte) []byte {
	path := make([]byte, 0, 2*len(key))
	for _, b := range key {
		path = append(path, b>>4, b&0xf)
	}
	return path
}

// trieRoot is the root of the Merkle-Patricia trie of leaves, which are sorted, with no path a prefix of another
// (Ethereum yellow paper, appendix D).
func trieRoot(leaves []leaf) chain.Hash {
	if len(leaves) == 0 {
		return chain.Hash(crypto.Keccak256Hash(rlp.EmptyString))
	}
	return chain.Hash(crypto.Keccak256Hash(trieNode(leaves, 0)))
}

// trieNode encodes the node over leaves that share the first depth nibbles.
func trieNode(leaves []leaf, depth int) []byte {
	first, last := leaves[0].path, leaves[len(leaves)-1].path
	if len(leaves) == 1 {
		return encodeNode(hexPrefix(first[depth:], true), leaves[0].value)
	}
	shared := depth
	for shared < len(first) && shared < len(last) && first[shared] == last[shared] {
		shared++
	}
	if shared > depth {
		return encodeNode(hexPrefix(first[depth:shared], false), reference(trieNode(leaves, shared)))
	}
	items := make([]any, 17)
	items[16] = []byte{}
	for nibble := range 16 {
		from, _ := slices.BinarySearchFunc(leaves, nibble, func(l leaf, n int) int { return int(l.path[depth]) - n })
		to, _ := slices.BinarySearchFunc(leaves, nibble+1, func(l leaf, n int) int { return int(l.path[depth]) - n })
		items[nibble] = []byte{}
		if from < to {
			items[nibble] = reference(trieNode(leaves[from:to], depth+1))
		}
	}
	return encodeNode(items...)
}

// reference is how a node names its child: the child itself when that is short, else its hash.
func reference(node []byte) any {
	if len(node) < len(chain.Hash{}) {
		return rlp.RawValue(node)
	}
	return crypto.Keccak256(node)
}

func encodeNode(items ...any) []byte {
	node, err := rlp.EncodeToBytes(items)
	if err != nil {
		panic("evm: bytes that RLP cannot hold: " + err.Error())
	}
	return node
}

// hexPrefix packs a path with a flag for its oddness and one for the end (yellow paper, appendix C).
func hexPrefix(path []byte, ends bool) []byte {
	flag := byte(0)
	if ends {
		flag = 2
	}
	if len(path)%2 == 1 {
		path = slices.Concat([]byte{flag | 1}, path)
	} else {
		path = slices.Concat([]byte{flag, 0}, path)
	}
	packed := make([]byte, len(path)/2)
	for i := range packed {
		packed[i] = path[2*i]<<4 | path[2*i+1]
	}
	return packed
}
