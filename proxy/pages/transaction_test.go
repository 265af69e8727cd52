package pages

import (
	"io"
	"strings"
	"testing"

	"crossgate/chain"
)

// calledPage is the page of a paid order whose creation called something on a chain.
func calledPage(t *testing.T, on chain.ID, calls ...Call) string {
	t.Helper()
	return render(t, func(to io.Writer) error {
		return NewViews(explored()).Order(to, Order{Record: answer(t, "order_claimed"), Now: noon, Transactions: []Transaction{
			{
				TransactionKey: TransactionKey{Step: "Creation", Chain: on, Hash: "0x" + strings.Repeat("ab", 32)},
				Sender:         "0x" + strings.Repeat("9", 40), Value: "0", Calls: calls,
			},
		}})
	})
}

func TestCallsAreToldAsFarAsTheyAreKnown(t *testing.T) {
	one := []Argument{{Name: "orderId", Type: "bytes32", Meaning: IsBytes, Bytes: make([]byte, 32)}}
	unlock := Call{Contract: "0x01", Role: "DlnDestination", Function: "sendEvmUnlock", Size: 100, Arguments: one}
	stranger := Call{Contract: "0x01", Selector: []byte{1, 2, 3, 4}, Size: 36}
	cut, followed, irregular := unlock, unlock, unlock
	cut.Unread, followed.Unused, irregular.Irregular = []string{"address", "uint256"}, 3, true
	for want, call := range map[string]Call{
		"A contract that is not the protocol's: function 0x01020304, which is not known": stranger,
		"Its 36 bytes of data are not decoded.":                                          stranger,
		"A contract that is not the protocol's: no data":                                 {Contract: "0x01"},
		"A new contract Its 900 bytes of data are not decoded.":                          {Selector: []byte{1, 2, 3, 4}, Size: 900},
		"DlnDestination: sendEvmUnlock":                                                  unlock,
		"orderId bytes32 0x000000…000000":                                                unlock,
		"2 arguments more could not be read.":                                            cut,
		"3 bytes more stand behind the arguments.":                                       followed,
		"The arguments are not encoded as compilers do it":                               irregular,
	} {
		if page := text(calledPage(t, 1, call)); !strings.Contains(page, want) {
			t.Errorf("the page of %+v lacks %q: %s", call, want, page)
		}
	}
}

func TestArgumentsAreInWords(t *testing.T) {
	maker := "0x" + strings.Repeat("1", 40)
	page := calledPage(t, 1, Call{Contract: "0x01", Role: "DlnSource", Function: "createOrder", Size: 4, Arguments: []Argument{
		{Name: "maker", Meaning: IsAddress, Text: maker, Chain: 1},
		{Name: "elsewhere", Meaning: IsAddress, Text: maker},
		{Name: "allowedTaker", Meaning: IsAddress},
		{Name: "giveToken", Meaning: IsToken, Text: maker, Chain: 1, Token: "USDC", Decimals: 6},
		{Name: "giveAmount", Meaning: IsAmount, Text: "1500000", Token: "USDC", Decimals: 6},
		{Name: "strangeAmount", Meaning: IsAmount, Text: "1500000"},
		{Name: "share", Meaning: IsShare, Text: "25"},
		{Name: "takeChain", Meaning: IsChain, Text: "8453"},
		{Name: "strangeChain", Meaning: IsChain, Text: "77"},
		{Name: "permit", Meaning: IsBytes},
		{Name: "metadata", Meaning: IsBytes, Bytes: []byte{0xaa, 0xbb}},
		{Type: "uint32", Text: "31805"},
	}})
	for _, want := range []string{
		"maker 0x111111…111111", "allowedTaker nobody", "giveToken USDC 0x111111…111111", "giveAmount 1.5 USDC",
		"strangeAmount 1500000 smallest units of a token that is not known", "share 0.25 %", "takeChain Base", "strangeChain chain 77",
		"permit none", "metadata 2 bytes", "12 uint32 31805", "Fee paid not told whole by the chain", "Told by not recorded",
	} {
		if !strings.Contains(text(page), want) {
			t.Errorf("the page lacks %q: %s", want, text(page))
		}
	}
	if links := strings.Count(page, `href="https://explorer.example/1/address/`+maker+`"`); links != 2 {
		t.Errorf("%d links to the address, want those of the maker and the token, whose chain is known", links)
	}
	if !strings.Contains(page, `data-copy="0xaabb"`) {
		t.Error("the metadata cannot be copied")
	}
}

func TestInstructionsAreToldByTheirAccounts(t *testing.T) {
	account := strings.Repeat("1", 32)
	page := text(calledPage(t, chain.Solana, Call{Contract: account, Role: "dln_src", Function: "create_order_with_nonce", Size: 200, Arguments: []Argument{
		{Name: "maker", Meaning: IsAddress, Text: account, Chain: chain.Solana},
	}}, Call{Contract: account, Role: "dln_dst", Selector: []byte{1, 2, 3, 4, 5, 6, 7, 8}, Size: 8}))
	for _, want := range []string{
		"Fee payer 0x9", "dln_src: create_order_with_nonce", "These are its accounts. What else it says, 200 bytes, is not decoded.",
		"dln_dst: an instruction that is not known, 0x0102030405060708",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q: %s", want, page)
		}
	}
}

func TestEachTransactionOfAnOrderIsReadOnce(t *testing.T) {
	for name, want := range map[string]string{
		"order_created":          "Creation",
		"order_claimed":          "Creation, Fulfilment, Unlock message, Unlock claim",
		"order_cancelled":        "Creation, Cancellation, Refund claim",
		"order_unknown_creation": "Fulfilment",
	} {
		var steps []string
		for _, key := range Transactions(answer(t, name)) {
			steps = append(steps, key.Step)
		}
		if got := strings.Join(steps, ", "); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
