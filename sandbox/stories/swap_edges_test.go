package stories_test

import (
	"bytes"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"strings"
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

// estimationAndSwap returns both paths' answers to a query. The transaction gets a recipient if the query has none.
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

// TestEstimationsCostWhatTransactionsDo compares the fees of both paths, for chains with gas, with gas and publishing,
// and with energy and bandwidth: an estimation is lower by at most a quarter.
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

// TestEstimationsWrapAsTransactionsDo proves that the rate is one to one if the sender receives, whoever is given.
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

// TestSwapsWorkOnAChainAheadOfTheClock makes blocks, each a second of the chain's time, for longer than any deadline
// (20 minutes): that of exchanges, whose calldata the gateway encodes, and that which a service is asked for.
func TestSwapsWorkOnAChainAheadOfTheClock(t *testing.T) {
	t.Parallel()
	world := sandboxtest.Start(t, sandbox.Options{})
	base, _ := world.Chain(8453)
	must.Do(t, world.Mine(t.Context(), base.Facts.ID, 1500))
	for _, name := range []string{"uniswap-v2", "velora"} {
		url := serveSwaps(t, world, func(c *config.Config) { onlyVenues(c, name) }, base.Facts.ID)
		newTrader(t, world, base, url).makeSwap(t, swapCases[0])
	}
}

// TestMaxLeavesEnoughForTheTransaction swaps an account's whole balance of the coin, with the gas and price in the
// answer.
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

// TestAFixedOutcomeIsDelivered requests outputs instead of inputs, sends the transactions, and checks what the
// recipient gets: at least the requested output, and at most 1.5 % more, the tolerance of the swaps.
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
			}, ethereum.Facts.ID))
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

// makeOutcome makes a swap with a fixed output amount.
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

func withoutOverrides(params string, _ int) string {
	if strings.Contains(params, `"stateDiff"`) || strings.Contains(params, `"balance"`) || strings.Contains(params, `"code"`) {
		return `"error":{"code":-32602,"message":"too many arguments, want at most 2"}`
	}
	return ""
}

// TestUnsimulatedTransactionsAreMarked calls a venue directly on a chain whose node has neither eth_simulateV1 nor
// state overrides: a swap of tokens is refused, or marked if the operator allows it.
func TestUnsimulatedTransactionsAreMarked(t *testing.T) {
	t.Parallel()
	world := sandboxtest.Shared(t)
	base, _ := world.Chain(8453)
	for allowed, mark := range map[config.Unsimulated]string{"": "", config.AllowUnsimulated: "true"} {
		w := newTrader(t, world, base, serveSwaps(t, world, func(c *config.Config) {
			c.Swap.Execution, c.Swap.Unsimulated = config.ExecuteDirectly, allowed
			onlyVenues(c, "kyberswap")
			at := slices.IndexFunc(c.Chains, func(c config.Chain) bool { return c.ID == 8453 })
			c.Chains[at].Endpoints = defective(t, c.Chains[at].Endpoints[0], defects{"plain": {
				"eth_simulateV1":  always(`"error":{"code":-32601,"message":"the method eth_simulateV1 does not exist/is not available"}`),
				"eth_call":        withoutOverrides,
				"eth_estimateGas": withoutOverrides,
			}})
		}, base.Facts.ID))
		response := must.Get(http.Get(w.gateway + "/v1.0/chain/transaction?" + w.query(swapCases[2]).Encode()))(t)
		response.Body.Close()
		if got := response.Header.Get("X-Unsimulated"); got != mark || (response.StatusCode == http.StatusOK) != (mark != "") {
			t.Errorf("allowed %q: %s, X-Unsimulated %q, want that it is refused, or marked if allowed", allowed, response.Status, got)
		}
	}
}

// madeSwapJSON is the record of an executed swap, as a wallet reads it.
type madeSwapJSON struct {
	SwapID, TransactionHash, Sender, Recipient struct{ StringValue string }
	TokenIn, TokenOut, ProtocolFee             struct{ Amount struct{ StringValue string } }
	BlockNumber                                uint64
	AffiliateFee                               *struct {
		AffiliateFee struct{ Amount struct{ StringValue string } }
		Beneficiary  struct{ StringValue string }
	}
}

// TestOurOwnSwapIsShownWithinItsBlock makes swaps with the gateway's transactions. The path, the stream and the page
// show each with the block that contains it, before any further block, and with the amounts that moved.
func TestOurOwnSwapIsShownWithinItsBlock(t *testing.T) {
	t.Parallel()
	front := patientlyInFrontOf(t, sandboxtest.Start(t, sandbox.Options{}))
	for _, one := range []swapCase{{"coin", "USDC", "250000000000000000", true, ""}, {"USDC", "coin", "90000000", true, "0.3"}} {
		base, _ := front.world.Chain(8453)
		trader := newTrader(t, front.world, base, front.url)
		t.Run(one.String(), func(t *testing.T) {
			var swap swapJSON
			trader.ask(t, trader.query(one), &swap)
			if one.in != "coin" {
				trader.approve(t, common.HexToAddress(trader.tokens[one.in]), common.HexToAddress(swap.Tx.To), decimal(t, one.amount))
				trader.ask(t, trader.query(one), &swap)
			}
			out := common.HexToAddress(trader.tokens[one.out])
			before, share := trader.balance(t, out, trader.stranger), trader.balance(t, out, trader.affiliate)
			receipt := trader.transact(t, common.HexToAddress(swap.Tx.To), hexutil.MustDecode(swap.Tx.Data), decimal(t, swap.Tx.Value))
			got := new(big.Int).Sub(trader.balance(t, out, trader.stranger), before)
			share.Sub(trader.balance(t, out, trader.affiliate), share)
			trader.checkShown(t, one, receipt, got, share)
		})
	}
}

// checkShown requires that the first answers about a transaction show what its swap did.
func (w *trader) checkShown(t *testing.T, c swapCase, receipt *types.Receipt, got, share *big.Int) {
	t.Helper()
	where := fmt.Sprintf("%d/tx/%s", w.chain, strings.ToLower(receipt.TxHash.Hex()))
	shown, page := ask(t, http.MethodGet, w.gateway+"/swap/"+where, "")
	var made madeSwapJSON
	get(t, w.gateway+"/api/SameChainSwap/"+where, &made)
	if made.BlockNumber != receipt.BlockNumber.Uint64() || common.HexToAddress(made.Sender.StringValue) != w.address ||
		common.HexToAddress(made.Recipient.StringValue) != w.stranger || made.TokenIn.Amount.StringValue != c.amount ||
		made.TokenOut.Amount.StringValue != got.String() || decimal(t, made.ProtocolFee.Amount.StringValue).Sign() == 0 {
		t.Errorf("the swap is %+v, want %s for %s of the stranger in block %d", made, c.amount, got, receipt.BlockNumber)
	}
	paid := made.AffiliateFee != nil && made.AffiliateFee.AffiliateFee.Amount.StringValue == share.String() &&
		common.HexToAddress(made.AffiliateFee.Beneficiary.StringValue) == w.affiliate
	if paid != (c.affiliate != "") {
		t.Errorf("affiliate fee %+v, want %s of the outcome", made.AffiliateFee, share)
	}
	if shown.StatusCode != http.StatusOK || !bytes.Contains(page, []byte(made.SwapID.StringValue)) {
		t.Errorf("the page, %s, does not show swap %s", shown.Status, made.SwapID.StringValue)
	}
}

// TestOperatorIsPaidByDirectSwaps configures a fee, sends transactions that call venues directly, and checks what the
// operator gets of the input. makeSwap checks the recipient and the affiliate.
func TestOperatorIsPaidByDirectSwaps(t *testing.T) {
	t.Parallel()
	world := sandboxtest.Start(t, sandbox.Options{})
	const bps = 20
	operator := common.HexToAddress("0x000000000000000000000000000000000000f00d")
	base, _ := world.Chain(8453)
	address := serveSwaps(t, world, func(c *config.Config) {
		c.Swap.Execution = config.ExecuteDirectly
		c.Swap.Fee = config.Fee{Bps: bps, Recipient: chain.NewAddress(operator.Bytes())}
	}, base.Facts.ID)
	trader := newTrader(t, world, base, address)
	for _, one := range []swapCase{
		{"coin", "USDC", "250000000000000000", false, ""},
		{"USDC", "DAI", "20000000", true, ""},
		{"USDC", "coin", "90000000", true, "0.3"},
	} {
		t.Run(one.String(), func(t *testing.T) {
			in := common.HexToAddress(trader.tokens[one.in])
			before := trader.balance(t, in, operator)
			swap := trader.makeSwap(t, one)
			got := new(big.Int).Sub(trader.balance(t, in, operator), before)
			if want := part(decimal(t, one.amount), bps, 10_000); got.Cmp(want) != 0 {
				t.Errorf("the operator got %s of the input, want %s", got, want)
			}
			swapped := int64(10_000 - bps)
			if one.affiliate != "" {
				swapped -= 30
			}
			// The trial's amounts are the answer's, so that the fee follows from them exactly.
			want := part(decimal(t, swap.TokenOut.Amount), bps, swapped)
			if fee := decimal(t, swap.ProtocolFee); fee.Cmp(want) != 0 || swap.fee(t, "SingleChainSwapProtocolFee").Cmp(want) != 0 {
				t.Errorf("protocolFee = %s with costs %+v, want %s", fee, swap.CostsDetails, want)
			}
		})
	}
}

// part returns floor(amount × numerator / denominator).
func part(amount *big.Int, numerator, denominator int64) *big.Int {
	product := new(big.Int).Mul(amount, big.NewInt(numerator))
	return product.Quo(product, big.NewInt(denominator))
}
