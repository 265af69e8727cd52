package stories_test

import (
	"context"
	"crypto/ecdsa"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethclient"

	"crossgate/internal/must"
)

// wallet signs and sends on one chain, with go-ethereum's client.
type wallet struct {
	client  *ethclient.Client
	key     *ecdsa.PrivateKey
	address common.Address
	chainID *big.Int
}

func newWallet(t *testing.T, rpc, privateKey string) *wallet {
	t.Helper()
	client := must.Get(ethclient.Dial(rpc))(t)
	t.Cleanup(client.Close)
	key := must.Get(crypto.HexToECDSA(strings.TrimPrefix(privateKey, "0x")))(t)
	id := must.Get(client.ChainID(t.Context()))(t)
	return &wallet{client, key, crypto.PubkeyToAddress(key.PublicKey), id}
}

// approve lets spender take an amount of a token.
func (w *wallet) approve(t *testing.T, token, spender common.Address, amount *big.Int) {
	t.Helper()
	data := crypto.Keccak256([]byte("approve(address,uint256)"))[:4]
	data = append(data, common.LeftPadBytes(spender.Bytes(), 32)...)
	data = append(data, common.LeftPadBytes(amount.Bytes(), 32)...)
	w.send(t, token, data, new(big.Int))
}

// send sends a transaction, waits for it, and returns the cost of its gas and value to the sender.
func (w *wallet) send(t *testing.T, to common.Address, data []byte, value *big.Int) *big.Int {
	t.Helper()
	receipt := w.transact(t, to, data, value)
	cost := new(big.Int).Mul(receipt.EffectiveGasPrice, new(big.Int).SetUint64(receipt.GasUsed))
	return cost.Add(cost, value)
}

// transact sends a transaction, which must succeed, waits for it, and returns its receipt.
func (w *wallet) transact(t *testing.T, to common.Address, data []byte, value *big.Int) *types.Receipt {
	t.Helper()
	ctx := t.Context()
	nonce := must.Get(w.client.PendingNonceAt(ctx, w.address))(t)
	gas, err := w.client.EstimateGas(ctx, ethereum.CallMsg{From: w.address, To: &to, Data: data, Value: value})
	if err != nil {
		t.Fatalf("the transaction would fail: %v", err)
	}
	price, tip := must.Get(w.client.SuggestGasPrice(ctx))(t), must.Get(w.client.SuggestGasTipCap(ctx))(t)
	tx := must.Get(types.SignNewTx(w.key, types.LatestSignerForChainID(w.chainID), &types.DynamicFeeTx{
		ChainID: w.chainID, Nonce: nonce, To: &to, Data: data, Value: value, Gas: gas * 2,
		GasTipCap: tip, GasFeeCap: price.Mul(price, big.NewInt(2)), // what it pays is what is suggested next
	}))(t)
	must.Do(t, w.client.SendTransaction(ctx, tx))
	receipt := w.await(t, tx.Hash())
	if receipt.Status != types.ReceiptStatusSuccessful {
		t.Fatalf("the transaction failed: %+v", receipt)
	}
	return receipt
}

// await returns the receipt of a transaction once its block is the head; the receipt can exist a moment earlier.
func (w *wallet) await(t *testing.T, tx common.Hash) *types.Receipt {
	t.Helper()
	var receipt *types.Receipt
	await(t, "mined: "+tx.Hex(), func() bool {
		var err error
		if receipt, err = w.client.TransactionReceipt(t.Context(), tx); err != nil {
			return false
		}
		head, err := w.client.BlockNumber(t.Context())
		return err == nil && head >= receipt.BlockNumber.Uint64()
	})
	return receipt
}

func (w *wallet) balance(t *testing.T, token, of common.Address) *big.Int {
	t.Helper()
	if token == (common.Address{}) {
		return must.Get(w.client.BalanceAt(t.Context(), of, nil))(t)
	}
	data := append(crypto.Keccak256([]byte("balanceOf(address)"))[:4], common.LeftPadBytes(of.Bytes(), 32)...)
	raw := must.Get(w.client.CallContract(context.Background(), ethereum.CallMsg{To: &token, Data: data}, nil))(t)
	return new(big.Int).SetBytes(raw)
}
