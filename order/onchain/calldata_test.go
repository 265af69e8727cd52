package onchain_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
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

func TestRecordedCreationsAreReadToTheirOrders(t *testing.T) {
	var recorded struct {
		Items []struct {
			Name     string
			Calldata hexBytes
			From, To hexBytes
			OrderID  order.ID
		}
	}
	readShared(t, "facts/dln/vectors/evm_calldata.json", &recorded)
	if len(recorded.Items) != 2 {
		t.Fatalf("%d creations are recorded", len(recorded.Items))
	}
	c := ethereum(t)
	for _, item := range recorded.Items {
		maker, on := chain.NewAddress(item.From), chain.ID(1)
		if len(item.From) == 0 { // an answer of the API, which names no sender: the maker may raise the give amount
			on = 137
		}
		call := onchain.ReadCall(c, c.Contracts.DlnSource, item.Calldata)
		if call.Role != "DlnSource" || call.Function != "createSaltedOrder" || call.Size != len(item.Calldata) || call.Irregular {
			t.Errorf("%s is read as %+v", item.Name, call)
			continue
		}
		if maker.IsAbsent() {
			maker = argument(t, call, "creation.givePatchAuthoritySrc").Address
		}
		if got := onchain.ID(createdTerms(t, on, maker, call)); got != item.OrderID {
			t.Errorf("%s is read as order %s, want %s", item.Name, got, item.OrderID)
		}
		if len(call.Unread) > 0 {
			t.Errorf("%s: unread is %q", item.Name, call.Unread)
		}
	}
}

func TestRecordedCreationWithinASwapIsReadToItsOrder(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "recorded/debridge/create-tx-arbitrum-arb-to-polygon-matic-2025-05-docs.targetData.hex"))
	if os.IsNotExist(err) {
		t.Skip("the recorded material does not lie beside this checkout")
	}
	inner, err := hex.DecodeString(strings.TrimPrefix(strings.TrimSpace(string(text)), "0x"))
	if err != nil {
		t.Fatal(err)
	}
	arbitrum, _ := chain.Documented().Chain(42161)
	source, tokenIn, venue := arbitrum.Contracts.DlnSource, address("token in ..........."), address("venue ..............")
	data := append([]byte{0x4d, 0x81, 0x60, 0xba}, encode(t, tokenIn, 1000, []byte{}, venue, []byte{1, 2, 3, 4, 5}, tokenIn, 7, venue, source, inner)...)
	call := onchain.ReadCall(arbitrum, arbitrum.Contracts.Router, data)
	if call.Function != "strictlySwapAndCall" || len(call.Unread) > 0 || call.Irregular || call.Unused > 0 {
		t.Fatalf("read as %+v", call)
	}
	if swap := argument(t, call, "swapCalldata").Call; swap == nil || swap.Function != "" || !bytes.Equal(swap.Selector, []byte{1, 2, 3, 4}) || swap.Size != 5 {
		t.Errorf("the swap is read as %+v", swap)
	}
	target := argument(t, call, "targetData").Call
	if target == nil || target.Function != "createSaltedOrder" {
		t.Fatalf("the target's call is read as %+v", target)
	}
	maker := chain.NewAddress(argument(t, *target, "creation.givePatchAuthoritySrc").Address.Bytes())
	id := onchain.ID(createdTerms(t, arbitrum.ID, maker, *target)).String()
	if !strings.HasPrefix(id, "0x19499ede") || !strings.HasSuffix(id, "0b6a") {
		t.Errorf("it creates order %s, want 0x19499ede…0b6a", id)
	}
}

// TestRecordedSwapsAreRead reads calls that the router's own source executed.
func TestRecordedSwapsAreRead(t *testing.T) {
	var recorded struct {
		Chains []struct {
			Vectors []struct {
				Name string
				Call struct {
					Args struct {
						TokenIn     hexBytes
						AmountIn    chain.Amount
						SwapDetails struct {
							TokenOut, Recipient, SwapCalldata, AffiliateFeeEnvelope hexBytes
							TokenOutMinAmount                                       chain.Amount
						}
					}
				}
				Tx struct{ To, Data hexBytes }
			}
		}
	}
	readShared(t, "golden/router/router-vectors-A.json", &recorded)
	count := 0
	for _, each := range recorded.Chains {
		for _, v := range each.Vectors {
			if !bytes.HasPrefix(v.Tx.Data, []byte{0x25, 0x8c, 0x16, 0xee}) {
				continue
			}
			count++
			c := ethereum(t)
			c.Contracts.Router = chain.NewAddress(v.Tx.To)
			call := onchain.ReadCall(c, c.Contracts.Router, v.Tx.Data)
			if call.Function != "swap" || len(call.Unread) > 0 || call.Irregular || call.Unused > 0 {
				t.Errorf("%s is read as %+v", v.Name, call)
				continue
			}
			want := v.Call.Args
			out, least := argument(t, call, "swapDetails.tokenOut"), argument(t, call, "swapDetails.tokenOutMinAmount")
			if !bytes.Equal(argument(t, call, "tokenIn").Address.Bytes(), want.TokenIn) || argument(t, call, "amountIn").Number.Cmp(want.AmountIn) != 0 ||
				!bytes.Equal(out.Address.Bytes(), want.SwapDetails.TokenOut) || least.Number.Cmp(want.SwapDetails.TokenOutMinAmount) != 0 || least.Address != out.Address ||
				!bytes.Equal(argument(t, call, "swapDetails.recipient").Address.Bytes(), want.SwapDetails.Recipient) ||
				!bytes.Equal(argument(t, call, "swapDetails.swapCalldata").Bytes, want.SwapDetails.SwapCalldata) {
				t.Errorf("%s: arguments %+v, want %+v", v.Name, call.Arguments, want)
			}
			if envelope := argument(t, call, "swapDetails.affiliateFeeEnvelope"); len(want.SwapDetails.AffiliateFeeEnvelope) == 22 &&
				(len(envelope.Members) != 2 || binary.BigEndian.Uint16(want.SwapDetails.AffiliateFeeEnvelope) != uint16(share(envelope))) {
				t.Errorf("%s: affiliate %+v", v.Name, envelope)
			}
		}
	}
	if count < 100 {
		t.Errorf("%d swaps were read", count)
	}
}

func share(envelope order.Argument) uint64 {
	n, _ := envelope.Members[0].Number.Uint64()
	return n
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
	if len(affiliate.Members) != 2 || affiliate.Members[0].Address != beneficiary || affiliate.Members[1].Address != give ||
		affiliate.Members[1].Number.Cmp(chain.NewAmount(25)) != 0 || affiliate.Members[1].Chain != 1 {
		t.Errorf("affiliate of %s: %+v", call.Function, affiliate)
	}
}
