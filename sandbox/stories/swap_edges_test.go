package stories_test

import (
	"fmt"
	"math/big"
	"net/url"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/internal/must"
	"crossgate/sandbox"
	"crossgate/sandbox/sandboxtest"
)

const (
	coinText = "0x0000000000000000000000000000000000000000"
	baseUSDC = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
)

// estimationAndSwap is what both paths answer to a query. The transaction has a recipient where the query names none.
func estimationAndSwap(t *testing.T, front front, query url.Values) (estimated, made swapAnswer) {
	t.Helper()
	var estimation struct{ Estimation swapAnswer }
	get(t, front.url+"/v1.0/chain/estimation?"+query.Encode(), &estimation)
	if !query.Has("tokenOutRecipient") {
		query.Set("tokenOutRecipient", front.world.Accounts()[0].Address.Hex())
	}
	get(t, front.url+"/v1.0/chain/transaction?"+query.Encode(), &made)
	return estimation.Estimation, made
}

type swapAnswer struct {
	TokenOut                struct{ Amount string }
	EstimatedTransactionFee struct {
		Total   string
		Details struct{ TxFee string }
	}
}

// TestEstimationsCostWhatTransactionsDo compares fees of both paths, where gas is paid, gas and its publishing, energy and
// bandwidth: those of an estimation are a quarter less at most.
func TestEstimationsCostWhatTransactionsDo(t *testing.T) {
	t.Parallel()
	front := readingFront(t)
	me := chain.NewAddress(front.world.Accounts()[0].Address.Bytes())
	for _, one := range []struct {
		chain           chain.ID
		in, out, amount string
	}{
		{1, coinText, "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48", "100000000000000000"},
		{8453, coinText, baseUSDC, "100000000000000000"},
		{chain.Tron, chain.NativeCoin(chain.TVM).Format(chain.TVM), "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", "25000000"},
	} {
		named := me.Format(chain.Documented().Family(one.chain))
		estimated, made := estimationAndSwap(t, front, url.Values{
			"chainId": {one.chain.String()}, "tokenIn": {one.in}, "tokenOut": {one.out}, "tokenInAmount": {one.amount},
			"tokenOutRecipient": {named}, "senderAddress": {named},
		})
		got, want := decimal(t, estimated.EstimatedTransactionFee.Total), decimal(t, made.EstimatedTransactionFee.Total)
		if got.Cmp(want) > 0 || got.Cmp(part(want, 3, 4)) < 0 {
			t.Errorf("chain %s: an estimation costs %s, the transaction %s", one.chain, got, want)
		}
		beside, least := estimated.EstimatedTransactionFee.Details.TxFee, made.EstimatedTransactionFee.Details.TxFee
		if (beside == "" || beside == "0") != (least == "" || least == "0") {
			t.Errorf("chain %s: a transaction costs %q beside gas, an estimation %q", one.chain, least, beside)
		}
	}
}

// TestEstimationsWrapAsTransactionsDo: one for one where the sender receives, whoever is named.
func TestEstimationsWrapAsTransactionsDo(t *testing.T) {
	t.Parallel()
	front := readingFront(t)
	sender, other := front.world.Accounts()[0].Address.Hex(), front.world.Accounts()[1].Address.Hex()
	base, _ := front.world.Chain(8453)
	for _, row := range []struct {
		named url.Values
		isOne bool // for one
	}{
		{url.Values{}, true},
		{url.Values{"senderAddress": {sender}}, true},
		{url.Values{"tokenOutRecipient": {other}}, true},
		{url.Values{"senderAddress": {sender}, "tokenOutRecipient": {sender}}, true},
		{url.Values{"senderAddress": {sender}, "tokenOutRecipient": {other}}, false},
	} {
		query := url.Values{
			"chainId": {"8453"}, "tokenIn": {coinText}, "tokenOut": {base.Tokens[0].Address.Hex()},
			"tokenInAmount": {"10000000000000000"},
		}
		for name, value := range row.named {
			query[name] = value
		}
		estimated, made := estimationAndSwap(t, front, query)
		if isOne := estimated.TokenOut.Amount == query.Get("tokenInAmount"); isOne != row.isOne || estimated.TokenOut != made.TokenOut {
			t.Errorf("%v: the estimation gives %s, the transaction %s", row.named, estimated.TokenOut.Amount, made.TokenOut.Amount)
		}
	}
}

// TestSwapsWorkOnAChainAheadOfTheClock makes blocks, which take a second each by the chain's time, for longer than any
// deadline (20 minutes): that of exchanges, whose calldata the gateway writes, and that which a service is asked for.
func TestSwapsWorkOnAChainAheadOfTheClock(t *testing.T) {
	t.Parallel()
	world := sandboxtest.Start(t, sandbox.Options{})
	base, _ := world.Chain(8453)
	must.Do(t, world.Mine(t.Context(), base.Facts.ID, 1500))
	for _, name := range []string{"uniswap-v2", "velora"} {
		url := serveSwaps(t, world, func(c *config.Config) { onlyVenues(c, name) })
		newTrader(t, world, base, url).makeSwap(t, swapCases[0])
	}
}

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

// TestAFixedOutcomeIsDelivered asks for outcomes in place of inputs, sends the transactions, and looks at what the
// recipient then has: at least what was asked for, and at most 1.5 % more, which is the tolerance of the swaps.
func TestAFixedOutcomeIsDelivered(t *testing.T) {
	t.Parallel()
	world := sandboxtest.Start(t, sandbox.Options{})
	ethereum, _ := world.Chain(1)
	for _, row := range []struct {
		name        string
		execution   config.Execution
		onChainOnly bool
	}{
		{"router", config.ExecuteByRouter, false},
		{"direct", config.ExecuteDirectly, false},
		{"exchanges on chain", config.ExecuteDirectly, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			trader := newTrader(t, world, ethereum, serveSwaps(t, world, func(c *config.Config) {
				c.Swap.Execution = row.execution
				c.Venues = slices.DeleteFunc(c.Venues, func(v config.Venue) bool { return row.onChainOnly && len(v.Endpoints) > 0 })
			}))
			for _, swap := range []swapCase{
				{in: "coin", out: "USDC", amount: "350000000"},
				{in: "USDC", out: "DAI", amount: "75000000000000000000", toStranger: true},
				{in: "USDC", out: "coin", amount: "20000000000000000", toStranger: true},
			} {
				t.Run(swap.String(), func(t *testing.T) { trader.makeOutcome(t, swap) })
			}
		})
	}
}

// makeOutcome makes a swap whose amount is that of the output.
func (w *trader) makeOutcome(t *testing.T, c swapCase) {
	t.Helper()
	query, recipient := w.query(c), w.recipient(c)
	query.Set("tokenInAmount", "auto")
	query.Set("tokenOutAmount", c.amount)
	var swap swapJSON
	w.ask(t, query, &swap)
	if c.in != "coin" {
		most := new(big.Int).Mul(decimal(t, swap.TokenIn.Amount), big.NewInt(2))
		w.approve(t, common.HexToAddress(w.tokens[c.in]), common.HexToAddress(swap.Tx.To), most)
		w.ask(t, query, &swap)
	}
	out, wanted := common.HexToAddress(w.tokens[c.out]), decimal(t, c.amount)
	if least := decimal(t, swap.TokenOut.MinAmount); least.Cmp(wanted) < 0 {
		t.Errorf("minAmount = %s, want at least %s", least, wanted)
	}
	before := w.balance(t, out, recipient)
	w.send(t, common.HexToAddress(swap.Tx.To), hexutil.MustDecode(swap.Tx.Data), decimal(t, swap.Tx.Value))
	got := new(big.Int).Sub(w.balance(t, out, recipient), before)
	most := new(big.Int).Quo(new(big.Int).Mul(wanted, big.NewInt(1015)), big.NewInt(1000))
	if got.Cmp(wanted) < 0 || got.Cmp(most) > 0 {
		t.Errorf("the recipient got %s, want %s to %s", got, wanted, most)
	}
}
