package stories_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"crossgate/chain"
)

// TestSwapOnTronTellsItsFee asks for a swap of TRX and of all TRX, and for one of a token that the sender has not
// allowed anybody to take.
func TestSwapOnTronTellsItsFee(t *testing.T) {
	t.Parallel()
	front := readingFront(t)
	sender := chain.NewAddress(front.world.Accounts()[0].Address.Bytes()).Format(chain.TVM)
	coin := chain.NativeCoin(chain.TVM).Format(chain.TVM)
	const usdt = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"
	ask := func(path, in, out, amount string, into any) {
		t.Helper()
		query := url.Values{
			"chainId": {chain.Tron.String()}, "tokenIn": {in}, "tokenOut": {out}, "tokenInAmount": {amount},
			"tokenOutRecipient": {sender}, "senderAddress": {sender},
		}
		get(t, front.url+path+"?"+query.Encode(), into)
	}
	for _, amount := range []string{"25000000", "max"} {
		var swap struct {
			Tx                      struct{ Value, GasLimit, GasPrice, EstimatedTransactionFee string }
			EstimatedTransactionFee struct {
				Total   string
				Details struct{ TxFee, GasLimit, GasPrice string }
			}
		}
		ask("/v1.0/chain/transaction", coin, usdt, amount, &swap)
		details, whole := swap.EstimatedTransactionFee.Details, amount == "max"
		if details.TxFee == "" || details.TxFee == "0" || details.GasLimit == "" || details.GasPrice != "100" {
			t.Errorf("fee of %s sun = %+v, want bandwidth, and energy at 100 sun", amount, swap.EstimatedTransactionFee)
		}
		if whole != (swap.Tx.EstimatedTransactionFee == swap.EstimatedTransactionFee.Total) || whole != (swap.Tx.GasPrice == "100") {
			t.Errorf("transaction of %s sun = %+v, want its cost with max alone", amount, swap.Tx)
		}
	}
	var told struct {
		Aggregators []struct{ Verdict, Reason string }
	}
	ask("/v1.0/chain/transaction/explain", usdt, coin, "1000000", &told)
	if len(told.Aggregators) == 0 || told.Aggregators[0].Verdict != "won" || !strings.Contains(told.Aggregators[0].Reason, "not simulated") {
		t.Errorf("explanation = %+v, want a winner that was not simulated", told)
	}
}

// TestSwapOnTronPaysAnAffiliate has a share of TRX paid beside the swap. A share of a token is refused by its parameter's name.
func TestSwapOnTronPaysAnAffiliate(t *testing.T) {
	t.Parallel()
	front := readingFront(t)
	there, _ := front.world.Chain(chain.Tron)
	coin, wrapped := chain.NativeCoin(chain.TVM).Format(chain.TVM), there.Facts.WrappedCoin.Format(chain.TVM)
	const usdt = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"
	query := func(in string) string {
		return front.url + "/v1.0/chain/transaction?" + url.Values{
			"chainId": {chain.Tron.String()}, "tokenIn": {in}, "tokenOut": {usdt}, "tokenInAmount": {"25000000"},
			"tokenOutRecipient":   {chain.NewAddress(front.world.Accounts()[0].Address.Bytes()).Format(chain.TVM)},
			"affiliateFeePercent": {"0.5"}, "affiliateFeeRecipient": {chain.NewAddress(front.world.Accounts()[1].Address.Bytes()).Format(chain.TVM)},
		}.Encode()
	}
	var swap struct{ Tx struct{ To, Value string } }
	get(t, query(coin), &swap)
	if to, err := chain.ParseAddress(swap.Tx.To, chain.TVM); err != nil || to != there.Facts.Contracts.Multicall || swap.Tx.Value != "25000000" {
		t.Errorf("transaction %+v, want the whole input to %s", swap.Tx, there.Facts.Contracts.Multicall)
	}
	if p := problemAt(t, query(wrapped)); p.status != 400 || p.ErrorID != "NO_ROUTE" || !strings.Contains(p.Message, "affiliateFeePercent") {
		t.Errorf("with a share of a token: %d %s %q, want NO_ROUTE that names affiliateFeePercent", p.status, p.ErrorID, p.Message)
	}
}

// TestSwapOnTronIsMarkedWhereNothingWasMeasured: nodes there take no overrides, so that swaps of TRX alone are measured.
func TestSwapOnTronIsMarkedWhereNothingWasMeasured(t *testing.T) {
	t.Parallel()
	front := readingFront(t)
	there, _ := front.world.Chain(chain.Tron)
	sender := chain.NewAddress(front.world.Accounts()[0].Address.Bytes()).Format(chain.TVM)
	recipient := chain.NewAddress(front.world.Accounts()[1].Address.Bytes()).Format(chain.TVM)
	for in, want := range map[chain.Address]string{chain.NativeCoin(chain.TVM): "", there.Facts.WrappedCoin: "true"} {
		for _, to := range []string{sender, recipient} {
			response, err := http.Get(front.url + "/v1.0/chain/transaction?" + url.Values{
				"chainId": {chain.Tron.String()}, "tokenIn": {in.Format(chain.TVM)}, "tokenOut": {"TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"},
				"tokenInAmount": {"25000000"}, "tokenOutRecipient": {to}, "senderAddress": {sender},
			}.Encode())
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			if marked := response.Header.Get("X-Unsimulated"); response.StatusCode != http.StatusOK || marked != want {
				t.Errorf("%s to %s: %d, X-Unsimulated %q, want %q", in.Format(chain.TVM), to, response.StatusCode, marked, want)
			}
		}
	}
}
