package onchain_test

import (
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/onchain"
)

// ethereum has the addresses that the protocol's contracts have on most chains.
func ethereum(tb testing.TB) chain.Chain {
	tb.Helper()
	c, known := chain.Documented().Chain(1)
	if !known {
		tb.Fatal("Ethereum is not documented")
	}
	return c
}

// argument is the argument at a path of names, such as creation.giveAmount.
func argument(tb testing.TB, call order.ContractCall, path string) order.Argument {
	tb.Helper()
	within := call.Arguments
	var found order.Argument
	for name := range strings.SplitSeq(path, ".") {
		found = order.Argument{}
		for _, a := range within {
			if a.Name == name {
				found = a
			}
		}
		if found.Name == "" {
			tb.Fatalf("%s has no argument %s", call.Function, path)
		}
		within = found.Members
	}
	return found
}

// createdTerms are the terms of the order that a call creates: the contract keeps 4 basis points of the give amount,
// as its transfer fee was when these transactions were made, and what the affiliate gets.
func createdTerms(tb testing.TB, on chain.ID, maker chain.Address, call order.ContractCall) order.Terms {
	tb.Helper()
	const transferFeeBps = 4
	of := func(name string) order.Argument { return argument(tb, call, "creation."+name) }
	salt, _ := argument(tb, call, "salt").Number.Uint64()
	takeChain, _ := of("takeChainId").Number.Uint64()
	gross := of("giveAmount").Number
	net := gross.Sub(gross.MulDiv(transferFeeBps, 10_000))
	if fee := argument(tb, call, "affiliateFee").Members; fee != nil {
		net = net.Sub(fee[1].Number)
	}
	return order.Terms{
		Nonce: salt, Maker: maker,
		Give:     order.Offer{Chain: on, Token: of("giveTokenAddress").Address, Amount: net},
		Take:     order.Offer{Chain: chain.ID(takeChain), Token: of("takeTokenAddress").Address, Amount: of("takeAmount").Number},
		Receiver: of("receiverDst").Address,
		Authorities: order.Authorities{
			GivePatch: of("givePatchAuthoritySrc").Address, Order: of("orderAuthorityAddressDst").Address,
			AllowedTaker: of("allowedTakerDst").Address, CancelBeneficiary: of("allowedCancelBeneficiarySrc").Address,
		},
		ExternalCall: of("externalCall").Bytes,
	}
}

func TestWhatIsNotKnownIsNotGuessed(t *testing.T) {
	c := ethereum(t)
	known := append([]byte{0xb4, 0x11, 0x00, 0xb3}, encode(t, hash("order"), address("beneficiary ........"), 0)...)
	for _, row := range []struct {
		name     string
		contract chain.Address
		data     []byte
		want     string
	}{
		{"a known call", c.Contracts.DlnDestination, known, "DlnDestination.sendEvmUnlock with 3"},
		{"the same selector elsewhere", c.Contracts.Gate, known, "DeBridgeGate. with 0"},
		{"a stranger's contract", address("a stranger ........."), known, ". with 0"},
		{"another selector", c.Contracts.DlnDestination, append([]byte{1, 2, 3, 4}, known[4:]...), "DlnDestination. with 0"},
		{"nothing", c.Contracts.DlnDestination, nil, "DlnDestination. with 0"},
		{"no contract", chain.Address{}, known, ". with 0"},
		{"arguments that break off", c.Contracts.DlnDestination, known[:4+64], "DlnDestination.sendEvmUnlock with 2"},
	} {
		call := onchain.ReadCall(c, row.contract, row.data)
		if got := call.Role + "." + call.Function + " with " + string(rune('0'+len(call.Arguments))); got != row.want || call.Size != len(row.data) {
			t.Errorf("%s: read as %s of %d bytes, want %s", row.name, got, call.Size, row.want)
		}
	}
	if call := onchain.ReadCall(c, c.Contracts.DlnDestination, append(known, 1, 2, 3)); call.Unused != 3 || call.Irregular {
		t.Errorf("3 bytes behind all arguments: %d unused, irregular %t", call.Unused, call.Irregular)
	}
}

// TestArgumentsSayWhereTheyAre reads an unlock for Solana: its beneficiary and give token are there, its receiver on
// the chain of the call.
func TestArgumentsSayWhereTheyAre(t *testing.T) {
	c := ethereum(t)
	o := fromSolana(t)
	o.Terms.Take.Chain = c.ID
	data := append(selectorOf("sendSolanaUnlock("+orderTuple+",bytes32,uint256,uint64,uint64)"), encodeUnlock(t, o.Terms)...)
	call := onchain.ReadCall(c, c.Contracts.DlnDestination, data)
	if call.Function != "sendSolanaUnlock" || len(call.Unread) > 0 {
		t.Fatalf("read as %+v", call)
	}
	o.Terms.Take.Chain = 1 << 63
	impossible := onchain.ReadCall(c, c.Contracts.DlnDestination, append(data[:4:4], encodeUnlock(t, o.Terms)...))
	if got := argument(t, impossible, "order.takeTokenAddress").Chain; got != 0 {
		t.Errorf("a token of a chain beyond 63 bits is on chain %s, want none", got)
	}
	for path, want := range map[string]chain.ID{
		"beneficiary": chain.Solana, "order.giveTokenAddress": chain.Solana, "order.giveAmount": chain.Solana,
		"order.takeTokenAddress": 1, "order.takeAmount": 1, "order.receiverDst": 1,
	} {
		if got := argument(t, call, path).Chain; got != want {
			t.Errorf("%s is on chain %s, want %s", path, got, want)
		}
	}
	amount, token := argument(t, call, "order.giveAmount"), argument(t, call, "order.giveTokenAddress")
	if amount.Address != token.Address || amount.Address != o.Terms.Give.Token {
		t.Errorf("the amount is of token %s, want %s", amount.Address, o.Terms.Give.Token)
	}
}

func TestAffiliateIsPaidInTheGiveToken(t *testing.T) {
	c := ethereum(t)
	beneficiary, give := address("affiliate .........."), address("give token .........")
	fee := append(beneficiary.Bytes(), encode(t, 25)...)
	call := onchain.ReadCall(c, c.Contracts.DlnSource, encodeCreation(t, give, fee))
	affiliate := argument(t, call, "affiliateFee")
	if affiliate.Kind != order.MembersArgument || len(affiliate.Members) != 2 || affiliate.Members[0].Address != beneficiary || affiliate.Members[1].Address != give ||
		affiliate.Members[1].Number.Cmp(chain.NewAmount(25)) != 0 || affiliate.Members[1].Chain != 1 {
		t.Errorf("affiliate of %s: %+v", call.Function, affiliate)
	}
}
