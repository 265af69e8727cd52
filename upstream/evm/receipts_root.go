package evm

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/rlp"

	"crossgate/chain"
	"crossgate/upstream"
	"crossgate/upstream/evm/seal"
	"crossgate/upstream/jsonrpc"
)

const getBlockReceipts = "eth_getBlockReceipts"

// errUnproven says that receipts are not those of their block by its header's root, or that the chain makes that root
// in a way of its own.
var errUnproven = errors.New("receipts do not give the root in their block's header")

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

// receiptsOf returns all receipts of a block, proven by the root in its header. Where isTwice, and the header does not
// give its hash, those of two endpoints must give the root: one may have made up both. errUnproven when none has such
// receipts; errUnserved, or the error object, when none has the method.
func (c *Chain) receiptsOf(ctx context.Context, h *header, isTwice bool) ([]receipt, error) {
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
		if err := h.checkPlaces(*told); err != nil {
			return &upstream.Error{Class: upstream.Rejected, Err: err}
		}
		if root, err := receiptsRoot(*told); err != nil || root != h.Receipts {
			return &upstream.Error{Class: upstream.Rejected, Err: errors.Join(errUnproven, err)}
		}
		return nil
	}, getBlockReceipts, h.Hash)
	asked.Reach, asked.Twice = c.reach(uint64(h.Number)), isTwice && !h.isProven
	if err := c.rpc.All(ctx, asked); err != nil {
		return nil, err
	}
	if c.rpc.Unheard(asked) != nil {
		return nil, errUnproven
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

// checkPlaces refuses receipts whose logs are not numbered through their block, whose number it gives them: the root
// says nothing of either.
func (h *header) checkPlaces(receipts []blockReceipt) error {
	next := Quantity(0)
	for i := range receipts {
		r := &receipts[i]
		if r.BlockHash != h.Hash {
			return errors.New("receipt of another block")
		}
		r.Logs = distinct(r.Logs)
		for _, l := range r.Logs {
			if l.BlockHash != h.Hash || l.TransactionHash != r.TransactionHash || l.Index != next {
				return fmt.Errorf("%w: log %d of transaction %s is log %d of the block", errUnproven, l.Index, r.TransactionHash, next)
			}
			next++
		}
		r.BlockNumber = h.Number
	}
	return nil
}

// receiptsRoot is the root of the Merkle-Patricia trie of a block's receipts, keyed by their places.
func receiptsRoot(receipts []blockReceipt) (chain.Hash, error) {
	encoded := make([][]byte, len(receipts))
	for i := range receipts {
		var err error
		if encoded[i], err = receipts[i].encode(); err != nil {
			return chain.Hash{}, err
		}
	}
	return seal.ListRoot(encoded), nil
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
