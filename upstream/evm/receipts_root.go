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
	"crossgate/order"
	"crossgate/upstream"
	"crossgate/upstream/evm/seal"
	"crossgate/upstream/jsonrpc"
)

const getBlockReceipts = "eth_getBlockReceipts"

// errUnproven says that no endpoint has receipts that are those of their block by its header's root, be it that the
// chain makes that root in a way of its own.
var errUnproven = errors.New("no receipts match the root in their block's header")

// isWithoutReceipts reports whether an error of receiptsOf says that endpoints lack receipts that prove the block's
// contents, rather than that they could not be asked.
func isWithoutReceipts(err error) bool {
	return errors.Is(err, errUnproven) || errors.As(err, new(*jsonrpc.Error))
}

// blockReceipt is a receipt with the members that its block's receiptsRoot is computed from (Ethereum yellow paper,
// section 4.3.1; EIP-2718; for deposits the OP stack's specification, "deposit receipt").
type blockReceipt struct {
	receipt
	Type           Quantity  `json:"type"`
	State          Payload   `json:"root"` // before Byzantium, in place of the status
	CumulativeGas  Quantity  `json:"cumulativeGasUsed"`
	DepositNonce   *Quantity `json:"depositNonce"`
	DepositVersion *Quantity `json:"depositReceiptVersion"`
}

// receiptsOf returns all receipts of a block that give the root in its header, and how they are known: one endpoint may
// have made up both where the header does not give its hash. errUnproven, or an error object, when none has such
// receipts, or another endpoint than theirs can be asked and does not confirm the root.
func (c *Chain) receiptsOf(ctx context.Context, h *header) (receipts []receipt, known order.Standing, err error) {
	if c.rpc.Lacks(getBlockReceipts, "") {
		return nil, known, errUnproven
	}
	var found *[]blockReceipt // nil if a node does not have the block
	asked := jsonrpc.NewCall(&found, func(told *[]blockReceipt) error {
		if told == nil {
			return &upstream.Error{Class: upstream.Rejected, Err: fmt.Errorf("node lacks the receipts of block %d", h.Number)}
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
	asked.Reach, known = c.reach(uint64(h.Number)), order.Intrinsic
	rpc := c.rpc
	if !h.isProven {
		rpc, known = rpc.Avoiding(h.by), order.Corroborated
	}
	if err := rpc.All(ctx, asked); err != nil {
		return nil, known, err
	}
	if !h.isProven && (h.by == "" || rpc.Avoids(asked.By)) {
		rooted := timeCall(new(h), h.Hash)
		rooted.By = asked.By
		c.rpc.Confirm(ctx, rooted, func(result any) string { return (*result.(**header)).Receipts.String() })
		if known = standingOf(rooted, false); (*rooted.Out.(**header)).Receipts != h.Receipts || c.rpc.Unheard(rooted) != nil {
			return nil, known, errUnproven
		}
	}
	for _, each := range *found {
		receipts = append(receipts, each.receipt)
		if slices.ContainsFunc(each.Logs, func(l log) bool { return l.isOfProtocol() }) {
			c.heardReceipt(&each.receipt, asked.By)
		}
	}
	return receipts, known, nil
}

// checkPlaces rejects receipts whose logs are not numbered through their block, and sets their block's number: the root
// covers neither.
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

// receiptsRoot returns the root of the Merkle-Patricia trie of a block's receipts, keyed by their positions.
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

// encode returns the receipt in the encoding of consensus.
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
