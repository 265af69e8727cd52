package proxy_test

import (
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/order"
)

// plainText is a page without its tags, on one line.
func plainText(page string) string {
	return html.UnescapeString(strings.Join(strings.Fields(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, " ")), " "))
}

// wholeCreation is the creation of the world's orders, sent through the router.
func wholeCreation(t *testing.T) order.Transaction {
	t.Helper()
	base, _ := chain.Documented().Chain(8453)
	nonce, gas, fee := uint64(42), uint64(210_000), chain.NewAmount(1_000_000_000_000)
	usdc, weth, coin := address(t, usdcText), address(t, wethText), chain.NativeCoin(chain.EVM)
	create := order.ContractCall{Contract: base.Contracts.DlnSource, Role: "DlnSource", Function: "createSaltedOrder", Size: 1060, Arguments: []order.Argument{
		{Name: "creation", Type: "tuple", Kind: order.MembersArgument, Members: []order.Argument{
			{Name: "giveAmount", Type: "uint256", Kind: order.AmountArgument, Chain: 8453, Address: usdc, Number: chain.NewAmount(17_992_800)},
			{Name: "takeTokenAddress", Type: "bytes", Kind: order.TokenArgument, Chain: 137, Address: coin},
			{Name: "takeChainId", Type: "uint256", Kind: order.ChainArgument, Number: chain.NewAmount(137)},
			{Name: "allowedTakerDst", Type: "bytes", Kind: order.AccountArgument, Chain: 137},
		}},
		{Name: "metadata", Type: "bytes", Bytes: make([]byte, 66)},
	}}
	swap := order.ContractCall{Contract: address(t, nobody), Selector: []byte{1, 2, 3, 4}, Size: 900}
	return order.Transaction{
		Chain: 8453, Block: 1, Sender: address(t, taker), Nonce: &nonce, GasUsed: &gas, Fee: &fee, Value: chain.NewAmount(1_000_000_000_000_000),
		By: []string{"first", "second"},
		Calls: []order.ContractCall{{
			Contract: base.Contracts.Router, Role: "DeBridgeRouter", Function: "strictlySwapAndCall", Selector: []byte{0x4d, 0x81, 0x60, 0xba}, Size: 2500,
			Arguments: []order.Argument{
				{Name: "amountIn", Type: "uint256", Kind: order.AmountArgument, Chain: 8453, Address: weth, Number: chain.NewAmount(10_000_000_000_000_000)},
				{Name: "swapCalldata", Type: "bytes", Bytes: make([]byte, 900), Call: &swap},
				{Name: "targetData", Type: "bytes", Bytes: make([]byte, 1060), Call: &create},
			},
		}},
	}
}

func TestOrderPageShowsWhatTransactionsCalled(t *testing.T) {
	w := newWorld(t)
	w.whole = map[string]order.Transaction{claimedTx: wholeCreation(t)}
	w.orders[claimedTx][0].Created.At.BlockHash = chain.Hash{1}
	w.tellers = map[string][]string{"8453 " + claimedTx: {"third", "fourth"}}
	s := w.server(t)
	page := plainText(pageAt(t, s, "/order/"+claimedTx, http.StatusOK))
	for _, want := range []string{
		"Creation on Base", "DeBridgeRouter: strictlySwapAndCall", "amountIn uint256 0.01 WETH",
		"A contract that is not the protocol's: function 0x01020304, which is not known", "Its 900 bytes of data are not decoded.",
		"DlnSource: createSaltedOrder", "giveAmount uint256 17.9928 USDC", "takeTokenAddress bytes POL", "takeChainId uint256 Polygon",
		"allowedTakerDst bytes nobody", "metadata bytes 66 bytes", "Nonce 42", "Coin sent along 0.001 ETH", "Gas used 210,000", "Fee paid 0.000001 ETH",
		"Told by 2 endpoints: first, second",
		"(told by 2 endpoints: third, fourth)", "(by which endpoints was not recorded)",
		"Unlock claim on Base", "It could not be read from its chain at the moment.",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q: %s", want, page)
		}
	}
}

// TestTransactionsAreReadForPagesAlone counts how often chains are asked for transactions.
func TestTransactionsAreReadForPagesAlone(t *testing.T) {
	w := newWorld(t)
	w.basis = []order.ChainBasis{followed(137, order.Lag{}), followed(8453, order.Lag{})}
	w.whole = map[string]order.Transaction{claimedTx: wholeCreation(t), "0x" + strings.Repeat("c4", 32): wholeCreation(t)}
	s := w.server(t)
	for range 2 {
		if response := get(s, ordersPath+claimedTx); response.StatusCode != http.StatusOK || strings.Contains(string(body(t, response)), "strictlySwapAndCall") {
			t.Fatal("the record is not there, or has more than it should")
		}
	}
	if w.readWhole != 0 {
		t.Errorf("the record asked for %d transactions", w.readWhole)
	}
	for range 3 {
		pageAt(t, s, "/order/"+claimedTx, http.StatusOK)
	}
	if w.readWhole != 2 {
		t.Errorf("three pages of a final order asked for transactions %d times, want each once", w.readWhole)
	}
}
