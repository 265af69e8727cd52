package pages

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/order"
)

var ones = chain.NewAddress(bytes.Repeat([]byte{0x11}, 20))

// calledPage is the page of a paid order whose creation called something on a chain.
func calledPage(t *testing.T, on chain.ID, calls ...order.ContractCall) string {
	t.Helper()
	return Render(t, func(to io.Writer) error {
		return NewViews(Explored()).Order(to, Order{Record: recordIn(t, Answer(t, "order_claimed")), JSON: string(Answer(t, "order_claimed")), Now: Noon, Transactions: []Transaction{
			{
				Step: "Creation", At: order.At{Chain: on, Tx: chain.NewTxHash(bytes.Repeat([]byte{0xab}, 32))},
				Read: &readTransaction{
					order.Transaction{Chain: on, Sender: chain.NewAddress(bytes.Repeat([]byte{0x99}, 20)), Calls: calls},
					tokenNames{{Chain: 1, Address: ones}: {Symbol: "USDC", Decimals: 6}},
				},
			},
		}})
	})
}

func TestCallsAreToldAsFarAsTheyAreKnown(t *testing.T) {
	one := []order.Argument{{Name: "orderId", Type: "bytes32", Kind: order.BytesArgument, Bytes: make([]byte, 32)}}
	unlock := order.ContractCall{Contract: ones, Role: "DlnDestination", Function: "sendEvmUnlock", Size: 100, Arguments: one}
	stranger := order.ContractCall{Contract: ones, Selector: []byte{1, 2, 3, 4}, Size: 36}
	cut, followed, irregular := unlock, unlock, unlock
	cut.Unread, followed.Unused, irregular.Irregular = []string{"address", "uint256"}, 3, true
	for want, call := range map[string]order.ContractCall{
		"A contract that is not the protocol's: function 0x01020304, which is not known": stranger,
		"Its 36 bytes of data are not decoded.":                                          stranger,
		"A contract that is not the protocol's: no data":                                 {Contract: ones},
		"A new contract Its 900 bytes of data are not decoded.":                          {Selector: []byte{1, 2, 3, 4}, Size: 900},
		"DlnDestination: sendEvmUnlock":                                                  unlock,
		"orderId bytes32 0x000000…000000":                                                unlock,
		"2 arguments more could not be read.":                                            cut,
		"3 bytes more stand behind the arguments.":                                       followed,
		"The arguments are not encoded as compilers do it":                               irregular,
	} {
		if page := Text(calledPage(t, 1, call)); !strings.Contains(page, want) {
			t.Errorf("the page of %+v lacks %q: %s", call, want, page)
		}
	}
}

func TestArgumentsAreInWords(t *testing.T) {
	maker := "0x" + strings.Repeat("1", 40)
	page := calledPage(t, 1, order.ContractCall{Contract: ones, Role: "DlnSource", Function: "createOrder", Size: 4, Arguments: []order.Argument{
		{Name: "maker", Kind: order.AccountArgument, Address: ones, Chain: 1},
		{Name: "elsewhere", Kind: order.AccountArgument, Address: ones},
		{Name: "allowedTaker", Kind: order.AccountArgument},
		{Name: "giveToken", Kind: order.TokenArgument, Address: ones, Chain: 1},
		{Name: "giveAmount", Kind: order.AmountArgument, Number: chain.NewAmount(1_500_000), Address: ones, Chain: 1},
		{Name: "strangeAmount", Kind: order.AmountArgument, Number: chain.NewAmount(1_500_000)},
		{Name: "share", Kind: order.ShareArgument, Number: chain.NewAmount(25)},
		{Name: "takeChain", Kind: order.ChainArgument, Number: chain.NewAmount(8453)},
		{Name: "strangeChain", Kind: order.ChainArgument, Number: chain.NewAmount(77)},
		{Name: "permit", Kind: order.BytesArgument},
		{Name: "metadata", Kind: order.BytesArgument, Bytes: []byte{0xaa, 0xbb}},
		{Type: "uint32", Kind: order.NumberArgument, Number: chain.NewAmount(31805)},
	}})
	for _, want := range []string{
		"maker 0x111111…111111", "allowedTaker nobody", "giveToken USDC 0x111111…111111", "giveAmount 1.5 USDC",
		"strangeAmount 1500000 smallest units of a token that is not known", "share 0.25 %", "takeChain Base", "strangeChain chain 77",
		"permit none", "metadata 2 bytes", "12 uint32 31805", "Fee paid not told whole by the chain", "Told by not recorded",
	} {
		if !strings.Contains(Text(page), want) {
			t.Errorf("the page lacks %q: %s", want, Text(page))
		}
	}
	if links := strings.Count(page, `href="https://explorer.example/1/address/`+maker+`"`); links != 3 {
		t.Errorf("%d links to the address, want those of the contract, the maker and the token, whose chains are known", links)
	}
	if !strings.Contains(page, `data-copy="0xaabb"`) {
		t.Error("the metadata cannot be copied")
	}
}

func TestInstructionsAreToldByTheirAccounts(t *testing.T) {
	program := chain.NewAddress(make([]byte, 32))
	page := Text(calledPage(t, chain.Solana, order.ContractCall{Contract: program, Role: "dln_src", Function: "create_order_with_nonce", Size: 200, Arguments: []order.Argument{
		{Name: "maker", Kind: order.AccountArgument, Address: program, Chain: chain.Solana},
	}}, order.ContractCall{Contract: program, Role: "dln_dst", Selector: []byte{1, 2, 3, 4, 5, 6, 7, 8}, Size: 8}))
	for _, want := range []string{
		"Fee payer", "dln_src: create_order_with_nonce", "These are its accounts. What else it says, 200 bytes, is not decoded.",
		"dln_dst: an instruction that is not known, 0x0102030405060708",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q: %s", want, page)
		}
	}
}
