package onchain_test

import (
	"bytes"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/onchain"
)

const orderTuple = "(uint64,bytes,uint256,bytes,uint256,uint256,bytes,uint256,bytes,bytes,bytes,bytes,bytes,bytes)"

func selectorOf(signature string) []byte { return crypto.Keccak256([]byte(signature))[:4] }

// encodeArguments writes arguments as the ABI encodes them, from their types alone.
func encodeArguments(tb testing.TB, arguments []order.Argument) []byte {
	tb.Helper()
	var heads, tails []byte
	later := func(tail []byte) {
		at := chain.NewAmount(uint64(32*len(arguments) + len(tails))).Bytes32()
		heads, tails = append(heads, at[:]...), append(tails, tail...)
	}
	for _, a := range arguments {
		switch a.Type {
		case "bytes":
			content := a.Bytes
			if a.Kind == order.AccountArgument || a.Kind == order.TokenArgument {
				content = a.Address.Bytes()
			}
			later(append(encodeCount(len(content)), append(content, make([]byte, -len(content)&31)...)...))
		case "tuple":
			later(encodeArguments(tb, a.Members))
		case "tuple[]", "bytes32[]":
			later(append(encodeCount(len(a.Members)), encodeArguments(tb, a.Members)...))
		case "address":
			heads = append(append(heads, make([]byte, 12)...), a.Address.Bytes()...)
		case "bytes32":
			heads = append(append(heads, a.Bytes...), a.Address.Bytes()...)
		case "uint16", "uint32", "uint64", "uint256":
			word := a.Number.Bytes32()
			heads = append(heads, word[:]...)
		default:
			tb.Fatalf("argument %q of type %q", a.Name, a.Type)
		}
	}
	return append(heads, tails...)
}

func encodeCount(n int) []byte {
	word := chain.NewAmount(uint64(n)).Bytes32()
	return word[:]
}

// encodeCreation is calldata of createOrder.
func encodeCreation(tb testing.TB, give chain.Address, affiliateFee []byte) []byte {
	tb.Helper()
	const creation = "(address,uint256,bytes,uint256,uint256,bytes,address,bytes,bytes,bytes,bytes)"
	members := make([]order.Argument, 0, 11)
	for _, kind := range []string{"address", "uint256", "bytes", "uint256", "uint256", "bytes", "address", "bytes", "bytes", "bytes", "bytes"} {
		members = append(members, order.Argument{Type: kind, Address: give, Number: chain.NewAmount(100)})
	}
	return append(selectorOf("createOrder("+creation+",bytes,uint32,bytes)"), encodeArguments(tb, []order.Argument{
		{Type: "tuple", Members: members}, {Type: "bytes", Bytes: affiliateFee}, {Type: "uint32"}, {Type: "bytes"},
	})...)
}

// encodeUnlock are the arguments of sendSolanaUnlock.
func encodeUnlock(tb testing.TB, t order.Terms) []byte {
	tb.Helper()
	return encode(tb, tupleOf(t), hash("beneficiary"), 1, 2, 3)
}

// FuzzReadCall reads any calldata of every contract: it never fails, and what was read to the end encodes to the same
// bytes again.
func FuzzReadCall(f *testing.F) {
	c := chain.Chain{ID: 1, Contracts: contracts}
	terms := recordedOrders(f)[4].Terms
	unlock := append(selectorOf("sendEvmUnlock(bytes32,address,uint256)"), encode(f, hash("order"), contracts.Gate, 1)...)
	creation := encodeCreation(f, contracts.Gate, make([]byte, 52))
	claim := append(selectorOf("claimUnlock(bytes32,address)"), encode(f, hash("order"), contracts.Gate)...)
	params := encodeArguments(f, []order.Argument{{Type: "tuple", Members: []order.Argument{
		{Type: "uint256"}, {Type: "uint256"}, {Type: "address", Address: contracts.Gate}, {Type: "bytes", Bytes: claim}, {Type: "bytes"},
	}}})
	for _, seed := range [][]byte{
		unlock, creation, append(unlock[:len(unlock):len(unlock)], 1, 2), unlock[:50],
		append(selectorOf("fulfillOrder("+orderTuple+",uint256,bytes32,bytes,address)"),
			encode(f, tupleOf(terms), 5, hash("order"), []byte{}, contracts.Gate)...),
		append(selectorOf("sendSolanaUnlock("+orderTuple+",bytes32,uint256,uint64,uint64)"), encodeUnlock(f, terms)...),
		append(selectorOf("sendBatchEvmUnlock(bytes32[],address,uint256)"), encodeArguments(f, []order.Argument{
			{Type: "bytes32[]", Members: []order.Argument{{Type: "bytes32", Bytes: make([]byte, 32)}}}, {Type: "address", Address: contracts.Gate}, {Type: "uint256"},
		})...),
		append(selectorOf("claim(bytes32,uint256,uint256,address,uint256,bytes,bytes)"),
			encode(f, hash("token"), 0, 56, contracts.DlnSource, 7, []byte{1}, params)...),
		append(selectorOf("strictlySwapAndCall(address,uint256,bytes,address,bytes,address,uint256,address,address,bytes)"),
			encode(f, contracts.Gate, 1, []byte{}, contracts.Gate, []byte{1}, contracts.Gate, 1, contracts.Gate, contracts.DlnSource, creation)...),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, contract := range []chain.Address{contracts.DlnSource, contracts.DlnDestination, contracts.Gate, contracts.Router, contracts.ExternalCallAdapter} {
			checkCall(t, onchain.ReadCall(c, contract, data), data)
		}
	})
}

func checkCall(t *testing.T, call order.ContractCall, data []byte) {
	t.Helper()
	if call.Size != len(data) || !bytes.HasPrefix(data, call.Selector) || call.Function == "" && len(call.Arguments) > 0 {
		t.Errorf("%x is read as %+v", data, call)
	}
	if len(call.Arguments) > 0 && len(call.Unread) == 0 && !call.Irregular {
		again := append(call.Selector[:4:4], encodeArguments(t, call.Arguments)...)
		if !bytes.Equal(again, data[:len(data)-call.Unused]) {
			t.Errorf("%s of %x encodes to %x", call.Function, data, again)
		}
	}
	checkNested(t, call.Arguments)
}

func checkNested(t *testing.T, arguments []order.Argument) {
	t.Helper()
	for _, a := range arguments {
		if a.Call != nil {
			checkCall(t, *a.Call, a.Bytes)
		}
		checkNested(t, a.Members)
	}
}

func TestClaimsAreReadThroughTheGate(t *testing.T) {
	c := chain.Chain{ID: 1, Contracts: contracts}
	id, beneficiary := hash("order"), address("taker ..............")
	read := func(data []byte) *order.ContractCall {
		params := encodeArguments(t, []order.Argument{{Type: "tuple", Members: []order.Argument{
			{Type: "uint256"}, {Type: "uint256"}, {Type: "address", Address: contracts.Gate}, {Type: "bytes", Bytes: data}, {Type: "bytes"},
		}}})
		claim := append(selectorOf("claim(bytes32,uint256,uint256,address,uint256,bytes,bytes)"),
			encode(t, hash("token"), 0, 56, contracts.DlnSource, 7, []byte{1}, params)...)
		return argument(t, onchain.ReadCall(c, contracts.Gate, claim), "autoParams.data").Call
	}
	if call := read(nil); call != nil {
		t.Errorf("a claim that calls nothing is read as %+v", call)
	}
	call := read(append(selectorOf("claimUnlock(bytes32,address)"), encode(t, id, beneficiary)...))
	if call == nil || call.Function != "claimUnlock" || !bytes.Equal(argument(t, *call, "orderId").Bytes, id[:]) || argument(t, *call, "beneficiary").Address != beneficiary {
		t.Errorf("the claim is read as %+v", call)
	}
}

func TestInstructionsNameTheirAccounts(t *testing.T) {
	o := fromSolana(t)
	solana, _ := chain.Documented().Chain(chain.Solana)
	calls := onchain.ReadInstructions(solana, run(wrapper(createWithNonce(t, o)), call{
		program: solanaContracts.DlnDestination, accounts: keys(1, 22), data: tagged(t, "2c0d9c04eb26b7e9"),
	}, call{program: solanaContracts.DlnSource, accounts: keys(9, 1), data: tagged(t, "0102030405060708")}))
	if len(calls) != 3 {
		t.Fatalf("%d instructions: %+v", len(calls), calls)
	}
	created, batch, unknown := calls[0], calls[1], calls[2]
	if created.Role != "dln_src" || created.Function != "create_order_with_nonce" ||
		created.Arguments[3].Name != "give_order_state" || created.Arguments[3].Address != key(4) {
		t.Errorf("the creation is read as %+v", created)
	}
	if batch.Function != "send_batch_unlock" || batch.Arguments[19].Name != "debridge_program" ||
		batch.Arguments[20].Name != "take_order_state" || batch.Arguments[21].Name != "take_order_state" {
		t.Errorf("the batch is read as %+v", batch)
	}
	if unknown.Function != "" || unknown.Size != 8 || unknown.Arguments[0].Name != "" {
		t.Errorf("an instruction that is not known is read as %+v", unknown)
	}
}
