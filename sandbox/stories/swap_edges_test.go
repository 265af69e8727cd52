package stories_test

import (
	"net/url"
	"testing"

	"crossgate/chain"
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
