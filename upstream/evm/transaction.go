package evm

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/onchain"
	"crossgate/upstream/jsonrpc"
)

var _ order.TransactionSource = (*Chain)(nil)

// sentTransaction has the members of a transaction that are read (execution-apis, eth_getTransactionByHash).
type sentTransaction struct {
	Hash      chain.Hash    `json:"hash"`
	BlockHash chain.Hash    `json:"blockHash"` // absent while it waits for a block
	From      chain.Address `json:"from"`
	To        chain.Address `json:"to"` // absent: it creates a contract
	Value     Amount        `json:"value"`
	Nonce     Quantity      `json:"nonce"`
	Input     Payload       `json:"input"`
}

// Transaction implements order.TransactionSource, in one round trip.
func (c *Chain) Transaction(ctx context.Context, tx chain.TxHash) (order.Transaction, error) {
	raw := tx.Bytes()
	if len(raw) != len(chain.Hash{}) {
		return order.Transaction{}, order.ErrNotFound
	}
	var sent *sentTransaction
	var came *receipt
	calls := []*jsonrpc.Call{transactionCall(&sent, chain.Hash(raw)), c.firstReceiptCall(&came, chain.Hash(raw))}
	if err := c.rpc.All(ctx, calls...); err != nil {
		return order.Transaction{}, err
	}
	if sent == nil || came == nil || came.BlockHash.IsAbsent() {
		return order.Transaction{}, order.ErrNotFound
	}
	if sent.BlockHash != came.BlockHash {
		return order.Transaction{}, fmt.Errorf("chain %d: transaction %s is in another block than its receipt", c.chain.ID, tx)
	}
	read := order.Transaction{
		Chain: c.chain.ID, Hash: tx, Block: uint64(came.BlockNumber), Sender: sent.From, Value: sent.Value.Amount,
		Fee: c.feePaid(came), Calls: []order.ContractCall{onchain.ReadCall(c.chain, sent.To, sent.Input)}, By: tellers(calls),
	}
	if used, told := came.gas(); told {
		read.GasUsed = &used
	}
	if !c.isTron { // TRON's transactions have no number
		nonce := uint64(sent.Nonce)
		read.Nonce = &nonce
	}
	return read, nil
}

// OPStack are the chains by their EIP-155 ids that publish transactions on another chain and charge for it: Optimism,
// Base, BOB, Mantle, MegaETH.
var OPStack = map[uint64]bool{10: true, 8453: true, 60808: true, 5000: true, 4326: true}

// mantle has a coin of its own for fees: whether its receipts have the cost of publishing in it was not checked.
const mantle = 5000

// gas is how much of it the transaction took.
func (c cost) gas() (used uint64, told bool) {
	if c.GasUsed.Amount == nil {
		return 0, false
	}
	return c.GasUsed.Uint64()
}

// feePaid is the cost of a transaction to its sender, nil where its receipt lacks a part: on TRON energy may come
// from the sender's stake.
func (c *Chain) feePaid(came *receipt) *chain.Amount {
	used, told := came.gas()
	if c.isTron || !told || came.GasPrice.Amount == nil {
		return nil
	}
	fee := came.GasPrice.MulDiv(used, 1)
	if !OPStack[c.chain.Native] {
		return &fee
	}
	if c.chain.Native == mantle || came.L1Fee.Amount == nil || came.OperatorScalar.isPositive() || came.OperatorConstant.isPositive() {
		return nil
	}
	fee = fee.Add(*came.L1Fee.Amount)
	return &fee
}

func (a toldAmount) isPositive() bool { return a.Amount != nil && !a.IsZero() }

// tellers are the endpoints that answered calls, each once.
func tellers(calls []*jsonrpc.Call) []string {
	var names []string
	for _, call := range calls {
		if call.By != "" && !slices.Contains(names, call.By) {
			names = append(names, call.By)
		}
	}
	return names
}

// transactionCall asks for a transaction; out stays nil for an unknown one.
func transactionCall(out **sentTransaction, tx chain.Hash) *jsonrpc.Call {
	c := jsonrpc.NewCall(out, func(t *sentTransaction) error {
		if t != nil && (t.Hash != tx || t.From.IsAbsent()) {
			return errors.New("not the transaction asked for")
		}
		return nil
	}, getTransaction, tx)
	c.Doubt = func(result any) bool { return *result.(**sentTransaction) == nil }
	return c
}
