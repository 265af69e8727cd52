package stories_test

import (
	"fmt"
	"math/big"
	"net/url"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"crossgate/internal/must"
)

// TestMaxLeavesEnoughForTheTransaction swaps all that an account has of the coin, with the gas and at the price that
// the answer names.
func TestMaxLeavesEnoughForTheTransaction(t *testing.T) {
	t.Parallel()
	front := startFront(t)
	base, _ := front.world.Chain(8453)
	w := newTrader(t, front.world, base, front.url)
	var answer struct {
		Tx struct{ To, Data, Value, GasLimit, GasPrice, EstimatedTransactionFee string }
	}
	query := url.Values{
		"chainId": {fmt.Sprint(w.chain)}, "tokenIn": {w.tokens["coin"]}, "tokenInAmount": {"max"},
		"tokenOut": {w.tokens["USDC"]}, "tokenOutRecipient": {w.stranger.Hex()}, "senderAddress": {w.address.Hex()},
		"slippage": {"1"},
	}
	get(t, w.gateway+"/v1.0/chain/transaction?"+query.Encode(), &answer)
	before := w.balance(t, common.Address{}, w.address)
	tx := answer.Tx
	price, gas, value := decimal(t, tx.GasPrice), decimal(t, tx.GasLimit), decimal(t, tx.Value)
	most := new(big.Int).Add(value, new(big.Int).Mul(price, gas))
	if most.Cmp(before) > 0 {
		t.Fatalf("value and gas take %s of %s", most, before)
	}
	to := common.HexToAddress(tx.To)
	signed := must.Get(types.SignNewTx(w.key, types.LatestSignerForChainID(w.chainID), &types.LegacyTx{
		To: &to, Value: value, Data: hexutil.MustDecode(tx.Data), Gas: gas.Uint64(), GasPrice: price,
	}))(t)
	must.Do(t, w.client.SendTransaction(t.Context(), signed))
	if receipt := w.await(t, signed.Hash()); receipt.Status != types.ReceiptStatusSuccessful {
		t.Errorf("the transaction failed with %d gas of %s", receipt.GasUsed, gas)
	}
	left := w.balance(t, common.Address{}, w.address)
	if thousandth := new(big.Int).Quo(before, big.NewInt(1000)); left.Cmp(thousandth) > 0 {
		t.Errorf("%s of %s are left, want next to nothing", left, before)
	}
}
