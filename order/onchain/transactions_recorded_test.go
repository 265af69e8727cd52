package onchain_test

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/onchain"
)

// decodedTransaction is what an independent decoder made of a recorded transaction; see the members below for the names
// of ours.
type decodedTransaction struct {
	Hash                          string
	ChainID                       chain.ID
	From                          hexBytes
	Order, Fulfil, Router, Unlock map[string]json.RawMessage
	RouterDln                     *struct{ Words []hexBytes }
}

// Members of decodings, with the arguments that they are.
var (
	decodedOrder = map[string]string{
		"salt": "salt", "giveToken": "creation.giveTokenAddress", "giveAmount": "creation.giveAmount", "takeChainId": "creation.takeChainId",
		"takeToken": "creation.takeTokenAddress", "takeAmount": "creation.takeAmount", "receiverDst": "creation.receiverDst",
		"givePatchAuthority": "creation.givePatchAuthoritySrc", "orderAuthorityDst": "creation.orderAuthorityAddressDst",
		"allowedTakerDst": "creation.allowedTakerDst", "allowedCancelBeneficiarySrc": "creation.allowedCancelBeneficiarySrc",
		"externalCall": "creation.externalCall", "affiliateFee": "affiliateFee", "referralCode": "referralCode",
		"permit": "permitEnvelope", "metadata": "metadata",
	}
	decodedFulfil = map[string]string{
		"orderId": "orderId", "fulfillAmount": "fulfillAmount", "unlockAuthority": "unlockAuthority", "nonce": "order.makerOrderNonce",
		"maker": "order.makerSrc", "gc": "order.giveChainId", "gt": "order.giveTokenAddress", "ga": "order.giveAmount",
		"tc": "order.takeChainId", "tt": "order.takeTokenAddress", "ta": "order.takeAmount", "rcv": "order.receiverDst",
		"gpa": "order.givePatchAuthoritySrc", "oad": "order.orderAuthorityAddressDst", "atd": "order.allowedTakerDst",
		"acb": "order.allowedCancelBeneficiarySrc", "ext": "order.externalCall",
	}
	decodedRouter = map[string]string{
		"tokenIn": "tokenIn", "amountIn": "amountIn", "permit": "permitEnvelope", "swapRouter": "swapRouter", "tokenOut": "tokenOut",
		"expectedOut": "expectedAmountOut", "refund": "refundRecipient", "target": "target",
	}
	decodedUnlock = map[string]string{"orderIds": "orderIds", "beneficiary": "beneficiary", "executionFee": "executionFee"}
)

// TestRealTransactionsAreReadAsTheirDecodings reads transactions that were sent to the protocol's contracts and to the
// router: creations, fulfilments, unlocks, and swaps before either.
func TestRealTransactionsAreReadAsTheirDecodings(t *testing.T) {
	var decoded []decodedTransaction
	readShared(t, "recorded/chains/dln/decoded-A.json", &decoded)
	calldata := recordedCalldata(t)
	for _, d := range decoded {
		t.Run(d.Hash[:10], func(t *testing.T) {
			if d.ChainID == 0 {
				d.ChainID = 8453 // whose USDC the order gives
			}
			on, _ := chain.Documented().Chain(d.ChainID)
			sent := calldata[d.Hash]
			call := onchain.ReadCall(on, chain.NewAddress(sent.To), sent.Input)
			isReadWhole(t, call)
			d.compare(t, call)
		})
	}
	if len(decoded) != 55 {
		t.Errorf("%d transactions are recorded, want 55", len(decoded))
	}
}

// sentTransaction is a transaction as explorers tell it.
type sentTransaction struct {
	Hash            string
	To, Input, Data hexBytes
}

func recordedCalldata(t *testing.T) map[string]sentTransaction {
	t.Helper()
	file, err := os.Open(filepath.Join("..", "..", "..", "shared", "recorded/chains/dln/transactions-A.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	all := map[string]sentTransaction{}
	for lines := json.NewDecoder(bufio.NewReader(file)); lines.More(); {
		var line struct{ Tx sentTransaction }
		if err := lines.Decode(&line); err != nil {
			t.Fatal(err)
		}
		all[line.Tx.Hash] = line.Tx
	}
	return all
}

// isReadWhole wants that nothing of a call of the protocol's is left unread, nor of those within it.
func isReadWhole(t *testing.T, call order.ContractCall) {
	t.Helper()
	if call.Role == "" {
		return // a venue's
	}
	if call.Function == "" || len(call.Unread) > 0 || call.Irregular {
		t.Errorf("%s %x is read as %q, unread %q, irregular %t", call.Role, call.Selector, call.Function, call.Unread, call.Irregular)
	}
	var visit func([]order.Argument)
	visit = func(arguments []order.Argument) {
		for _, a := range arguments {
			visit(a.Members)
			if a.Call != nil {
				isReadWhole(t, *a.Call)
			}
			if a.Name == "permitEnvelope" && len(a.Bytes) == 129 && len(a.Members) != 3 {
				t.Errorf("the permit %x is not read", a.Bytes)
			}
		}
	}
	visit(call.Arguments)
}

func (d decodedTransaction) compare(t *testing.T, call order.ContractCall) {
	t.Helper()
	same(t, call, d.Router, decodedRouter)
	same(t, call, d.Unlock, decodedUnlock)
	target := call
	if d.Router != nil || d.RouterDln != nil {
		target = *argument(t, call, "targetData").Call
	}
	if d.Router != nil && fmt.Sprintf("0x%x", target.Selector) != plain(d.Router["targetSelector"]) {
		t.Errorf("its target is called by %x, want %s", target.Selector, d.Router["targetSelector"])
	}
	same(t, target, d.Order, decodedOrder)
	same(t, target, d.Fulfil, decodedFulfil)
	if d.Order != nil {
		created := createdTerms(t, d.ChainID, chain.NewAddress(d.From), target)
		if got := onchain.ID(created).String(); got != plain(d.Order["orderId4bps"]) {
			t.Errorf("it creates order %s, want %s", got, plain(d.Order["orderId4bps"]))
		}
		if m, known := onchain.ParseMetadata(argument(t, target, "metadata").Bytes); !known || m.CreationProcessType != "SrcAmountSet" || m.Origin == "" {
			t.Errorf("metadata %s is read as %+v", d.Order["metadata"], m)
		}
	}
	if target.Function == "fulfillOrder" {
		got, told := onchain.ID(fulfilledTerms(t, target)), argument(t, target, "orderId")
		if text(told) != got.String() || d.Fulfil != nil && got.String() != plain(d.Fulfil["computed"]) {
			t.Errorf("its terms are those of order %s, it names %s", got, text(told))
		}
	}
	if d.RouterDln != nil {
		words := d.RouterDln.Words
		for path, word := range map[string]hexBytes{
			"tokenIn": words[0][12:], "amountIn": words[1], "target": words[4][12:], "orderId": words[6],
			"swapDetails.swapRouter": words[8][12:], "swapDetails.tokenOut": words[10][12:], "swapDetails.tokenOutMinAmount": words[11],
		} {
			want := "0x" + hex.EncodeToString(word)
			if a := argument(t, call, path); a.Kind == order.AmountArgument {
				want = chain.AmountFromBytes(word).String()
			}
			if got := text(argument(t, call, path)); got != want {
				t.Errorf("%s is %s, want %s", path, got, want)
			}
		}
	}
}

// same compares arguments with a decoding.
func same(t *testing.T, call order.ContractCall, decoded map[string]json.RawMessage, paths map[string]string) {
	t.Helper()
	for member, path := range paths {
		if decoded == nil {
			return
		}
		want := plain(decoded[member])
		if got := text(argument(t, call, path)); got != want {
			t.Errorf("%s of %s is %s, want %s", path, call.Function, got, want)
		}
	}
}

// plain is a value of a decoding as text says it.
func plain(value json.RawMessage) string {
	var list []string
	if json.Unmarshal(value, &list) == nil {
		return fmt.Sprint(list)
	}
	return strings.Trim(string(value), `"`)
}

// text is what an argument holds, as decodings have it.
func text(a order.Argument) string {
	switch a.Kind {
	case order.AmountArgument, order.NumberArgument, order.ChainArgument:
		return a.Number.String()
	case order.AccountArgument, order.TokenArgument:
		return "0x" + hex.EncodeToString(a.Address.Bytes())
	case order.MembersArgument:
		if a.Bytes == nil {
			all := []string{}
			for _, each := range a.Members {
				all = append(all, text(each))
			}
			return fmt.Sprint(all)
		}
	}
	return "0x" + hex.EncodeToString(a.Bytes)
}

// fulfilledTerms are the terms that a fulfilment repeats.
func fulfilledTerms(t *testing.T, call order.ContractCall) order.Terms {
	t.Helper()
	of := func(name string) order.Argument { return argument(t, call, "order."+name) }
	number := func(name string) uint64 { n, _ := of(name).Number.Uint64(); return n }
	return order.Terms{
		Nonce: number("makerOrderNonce"), Maker: of("makerSrc").Address, Receiver: of("receiverDst").Address,
		Give: order.Offer{Chain: chain.ID(number("giveChainId")), Token: of("giveTokenAddress").Address, Amount: of("giveAmount").Number},
		Take: order.Offer{Chain: chain.ID(number("takeChainId")), Token: of("takeTokenAddress").Address, Amount: of("takeAmount").Number},
		Authorities: order.Authorities{
			GivePatch: of("givePatchAuthoritySrc").Address, Order: of("orderAuthorityAddressDst").Address,
			AllowedTaker: of("allowedTakerDst").Address, CancelBeneficiary: of("allowedCancelBeneficiarySrc").Address,
		},
		ExternalCall: of("externalCall").Bytes,
	}
}

// TestExecutedCallsAreRead reads what was asked of the protocol's own contracts when their rules were recorded: each call
// by the name of its function and as a whole, but for those that were mangled on purpose.
func TestExecutedCallsAreRead(t *testing.T) {
	read := map[string]int{}
	for _, part := range []string{"create", "orders", "router-create"} {
		var recorded struct {
			Chains []struct {
				DeBridgeID chain.ID
				Contracts  struct{ Gate, DlnSource, DlnDestination, Adapter, Router hexBytes }
			}
			Functions map[string][]struct{ Signature, StateMutability string }
			Cases     []struct {
				ID, Kind string
				Chain    chain.ID
				Tx       sentTransaction
				Call     struct{ Contract, Function string }
			}
		}
		readShared(t, "golden/create/"+part+"-vectors-A.json", &recorded)
		contracts := map[chain.ID]chain.Contracts{}
		for _, c := range recorded.Chains {
			contracts[c.DeBridgeID] = chain.Contracts{
				Gate: chain.NewAddress(c.Contracts.Gate), DlnSource: chain.NewAddress(c.Contracts.DlnSource),
				DlnDestination:      chain.NewAddress(c.Contracts.DlnDestination),
				ExternalCallAdapter: chain.NewAddress(c.Contracts.Adapter), Router: chain.NewAddress(c.Contracts.Router),
			}
		}
		views := map[string]bool{}
		for _, f := range slices.Concat(slices.Collect(maps.Values(recorded.Functions))...) {
			name, _, _ := strings.Cut(f.Signature, "(")
			views[name] = f.StateMutability == "view" || f.StateMutability == "pure"
		}
		for _, each := range recorded.Cases {
			on := chain.Chain{ID: each.Chain, Family: chain.EVM, Contracts: contracts[each.Chain]}
			call := onchain.ReadCall(on, chain.NewAddress(each.Tx.To), each.Tx.Data)
			what := each.Call.Contract + "." + each.Call.Function
			switch {
			case call.Function == "" && views[each.Call.Function] || what == "DeBridgeGate.send" || each.Call.Contract == "Wallet":
				continue // which say nothing of orders
			case each.Call.Function == "": // mangled
				continue
			}
			read[what]++
			if call.Function != each.Call.Function || call.Role != each.Call.Contract {
				t.Errorf("%s: %s is read as %s.%s", each.ID, what, call.Role, call.Function)
			}
			if each.Kind != "encoding" {
				isReadWhole(t, call)
			}
			if call.Function == "fillCrossChain" && argument(t, call, "dlnDestinationCalldata").Call.Role != "DlnDestination" {
				t.Errorf("%s: what the router is to fulfil is not read", each.ID)
			}
		}
	}
	for _, what := range slices.Sorted(maps.Keys(read)) {
		t.Logf("%s: %d", what, read[what])
	}
}
