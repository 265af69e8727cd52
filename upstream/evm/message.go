package evm

import (
	"context"

	"crossgate/chain"
	"crossgate/quote"
)

// message is a transaction as eth_call and eth_estimateGas take it.
type message struct {
	From  *chain.Address `json:"from,omitempty"`
	To    chain.Address  `json:"to"`
	Data  payload        `json:"data"`
	Value *amount        `json:"value,omitempty"`
}

// messageOf is tx sent by sender.
func messageOf(sender chain.Address, tx quote.Tx) message {
	return message{From: &sender, To: tx.To, Data: tx.Data, Value: &amount{tx.Value}}
}

// Call calls a contract on the newest block. The answer is empty for a missing contract; a *jsonrpc.Error is in the
// error's chain when the contract reverts.
func (c *Chain) Call(ctx context.Context, to chain.Address, data []byte) ([]byte, error) {
	var answer payload
	if err := c.rpc.All(ctx, contractCall{to, data}.on(&answer, "latest")); err != nil {
		return nil, err
	}
	return answer, nil
}
