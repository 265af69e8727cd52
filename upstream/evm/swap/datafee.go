package swap

import (
	"context"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/rlp"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/quote"
	"crossgate/upstream/evm"
	"crossgate/upstream/jsonrpc"
)

// oracle is the address of the OP stack's GasPriceOracle (specs.optimism.io, predeploys).
var oracle = chain.NewAddress([]byte{
	0x42, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x0f,
})

// opStack are the EIP-155 ids of the chains that publish transactions on another chain and charge for it: Optimism,
// Base, BOB, Mantle, MegaETH.
var opStack = map[uint64]bool{10: true, 8453: true, 60808: true, 5000: true, 4326: true}

// linea is the EIP-155 id of the chain whose price of gas depends on the size of the transaction.
const linea = 59144

// Functions of the oracle; getOperatorFee exists since the Isthmus upgrade.
var (
	getL1Fee       = words.SelectorOf("getL1Fee(bytes)")
	getOperatorFee = words.SelectorOf("getOperatorFee(uint256)")
)

// Bandwidth of a transaction that calls a contract of TRON, for a sender who has no bandwidth left.
const (
	// bandwidthPrice is the price of a byte, in sun (getTransactionFee; documentation-en, docs/api/http).
	bandwidthPrice = 1000

	// envelopeBytes is the most that a transaction takes besides calldata: 143 recorded, 10 for the value, 4 for
	// lengths, 67 for a signature, 3 for its tag, and 64 reserved for the outcome.
	envelopeBytes = 143 + 10 + 4 + 67 + 3 + 64
)

// DataFee returns the cost of publishing tx in addition to gas. On Arbitrum and the ZK stack it is part of the gas.
func (f *Fees) DataFee(ctx context.Context, tx quote.Tx, gas uint64) (chain.Amount, error) {
	switch {
	case opStack[f.chain.Facts().Native]:
		return f.publishingFee(ctx, tx, gas)
	case f.chain.Facts().Native == linea:
		return f.sizeFee(ctx, tx.Data)
	case f.chain.Facts().Family == chain.TVM:
		return chain.NewAmount(bandwidthPrice * uint64(envelopeBytes+len(tx.Data))), nil
	}
	return chain.Amount{}, nil
}

// publishingFee returns the oracle's fee for the unsigned transaction, plus the operators' share for its gas if the
// oracle has a function for that.
func (f *Fees) publishingFee(ctx context.Context, tx quote.Tx, gas uint64) (chain.Amount, error) {
	// As EIP-1559 serialises it for signing, with prices of the usual size.
	const dynamicFee, nonce, usualPrice = 2, uint64(1), uint64(1_000_000_000)
	body, err := rlp.EncodeToBytes([]any{
		f.chain.Facts().Native, nonce, usualPrice, usualPrice, gas, tx.To.Bytes(), tx.Value.Big(), []byte(tx.Data), []any{},
	})
	if err != nil {
		return chain.Amount{}, fmt.Errorf("encode the unsigned transaction: %w", err)
	}
	raw := append([]byte{dynamicFee}, body...)
	bytes := uint64(len(raw))
	var published, operated evm.Payload
	publishing, operating := oracleCall(&published, getL1Fee.Call(raw)), oracleCall(&operated, getOperatorFee.Call(gas))
	doubtFar(publishing, f.publishing.last().MulDiv(bytes, 1), wordAmount)
	doubtFar(operating, chain.Amount{}, wordAmount)
	operating.MayRevert = true
	if err = f.chain.Client().Batching().All(ctx, publishing, operating); err == nil && len(published) < words.Size {
		err = errors.New("the oracle does not say")
	}
	if err != nil {
		return chain.Amount{}, fmt.Errorf("fee of publishing: %w", err)
	}
	f.publishing.hear(publishing, wordAmount(published).MulDiv(1, bytes))
	return wordAmount(published).Add(wordAmount(operated)), nil
}

func oracleCall(out *evm.Payload, data []byte) *jsonrpc.Call {
	return jsonrpc.NewCall(out, nil, "eth_call", evm.Message{To: oracle, Data: data}, "latest")
}

// sizeFee returns how much more than usual gas costs for this transaction (docs.linea.build, linea_estimateGas). The
// price spreads the cost of the size over the gas that is estimated with it: of a message with the same data that needs
// nothing of its sender, and that no contract refuses.
func (f *Fees) sizeFee(ctx context.Context, data []byte) (chain.Amount, error) {
	zero := chain.NativeCoin(chain.EVM)
	type sizeEstimate struct {
		Gas      evm.Quantity `json:"gasLimit"`
		BaseFee  evm.Amount   `json:"baseFeePerGas"`
		Priority evm.Amount   `json:"priorityFeePerGas"`
	}
	var estimate sizeEstimate
	var usual evm.Amount
	size := &jsonrpc.Call{Method: "linea_estimateGas", Params: []any{messageOf(zero, quote.Tx{To: zero, Data: data})}, Out: &estimate}
	doubtFar(size, chain.Amount{}, func(e sizeEstimate) chain.Amount { return e.BaseFee.Add(e.Priority.Amount).MulDiv(uint64(e.Gas), 1) })
	if err := f.chain.Client().All(ctx, size, jsonrpc.NewCall(&usual, nil, "eth_gasPrice")); err != nil {
		return chain.Amount{}, fmt.Errorf("price by size: %w", reverted(err))
	}
	price := estimate.BaseFee.Add(estimate.Priority.Amount)
	return price.Sub(usual.Amount).MulDiv(uint64(estimate.Gas), 1), nil
}
