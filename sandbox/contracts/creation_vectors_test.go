package contracts

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/core/vm/runtime"
	"github.com/holiman/uint256"

	"crossgate/internal/must"
	"crossgate/internal/recorded"
)

// TestOrdersAreCreatedAsByTheRealContracts replays the recorded transactions that create orders from their original
// state. Results, errors, events, balances and stored orders must be the same.
func TestOrdersAreCreatedAsByTheRealContracts(t *testing.T) {
	for _, file := range []string{"create-vectors-A.json", "router-create-vectors-A.json"} {
		var r orderRecording
		recorded.JSON(t, "golden/create/"+file, &r)
		replayOrders(t, &r, nil)
	}
}

// TestOrdersGoOnAsWithTheRealContracts replays the recorded transactions that fulfil, patch, unlock, cancel and claim.
func TestOrdersGoOnAsWithTheRealContracts(t *testing.T) {
	var r orderRecording
	recorded.JSON(t, "golden/create/orders-vectors-A.json", &r)
	replayOrders(t, &r, leftOut)
}

// leftOut returns why a case is not replayed, if it is about the gate's messages or takers' swaps before a fulfilment.
func leftOut(c orderCase) string {
	switch {
	case c.Call.Function == "send":
		return "a message of a stranger: the gate of the sandbox carries no coin"
	case c.Call.Function == "claim" && c.Result.Revert != nil && c.Result.Revert.Name != "ExternalCallFailed":
		return "the gate refuses the message: the sandbox has no validators"
	case c.Call.Function == "strictlySwapAndCallDln", c.Call.Function == "fillCrossChain", c.ID == "A-532-router-unlock":
		return "the router's functions for takers are not in the sandbox"
	case c.ID[len("A-000-"):] == "solana-unlock-rewards-short":
		return "rewards on Solana are not paid from the value of a message"
	}
	return ""
}

// replayOrders replays every case except those that leave has a reason for.
func replayOrders(t *testing.T, r *orderRecording, leave func(orderCase) string) {
	t.Helper()
	eachOrder(t, r, leave, func(t *testing.T, world worldState, c orderCase) { replayOrder(t, r, world, c) })
}

// eachOrder calls each for every case, with the world that the preceding cases left.
func eachOrder(t *testing.T, r *orderRecording, leave func(orderCase) string, each func(*testing.T, worldState, orderCase)) {
	t.Helper()
	base := baseWorld(t, r)
	after := map[string]worldState{"": base}
	replayed := 0
	for _, c := range r.Cases {
		world := after[c.After].copied()
		after[c.ID] = world
		if leave != nil && leave(c) != "" {
			continue
		}
		replayed++
		t.Run(c.ID, func(t *testing.T) { each(t, world, c) })
	}
	t.Logf("%d of %d cases replayed", replayed, len(r.Cases))
}

func replayOrder(t *testing.T, r *orderRecording, world worldState, c orderCase) {
	if !prepare(t, r, world, c) {
		return
	}
	db, at := world[c.Chain], r.chain(c.Chain)
	before, logs := db.Copy(), len(db.Logs())
	output, err := at.make(t, db, c)
	if c.Result.Status == "revert" {
		checkRefusal(t, c, output, err)
		return
	}
	if err != nil {
		t.Fatalf("%v: %s, want success", err, describe(output))
	}
	checkOrderLogs(t, at, c, db.Logs()[logs:])
	checkDeltas(t, at, c, before, db)
	checkStored(t, at, c, db)
}

// prepare makes the transactions before a case; false if its sender cannot pay, so that there is no transaction.
func prepare(t *testing.T, r *orderRecording, world worldState, c orderCase) bool {
	t.Helper()
	for _, step := range c.Prepare {
		if arrange(world[step.Chain], step.orderTx) {
			continue
		}
		chainOf := r.chain(step.Chain)
		if output, err := chainOf.call(t, world[step.Chain], step.orderTx, c.Block.Timestamp); err != nil {
			t.Fatalf("%s: %v: %s", step.What, err, describe(output))
		}
	}
	db := world[c.Chain]
	if value := uint256.MustFromBig(bigOf(t, c.Tx.Value)); db.GetBalance(c.Tx.From).Lt(value) {
		if slices.Contains([]string{"recorded", "hosted"}, c.Kind) {
			db.SetBalance(c.Tx.From, value, 0)
		} else if c.Result.Status == "invalid" {
			return false
		}
	}
	return true
}

func (r *orderRecording) chain(id uint64) orderChain {
	return r.Chains[slices.IndexFunc(r.Chains, func(c orderChain) bool { return c.DeBridgeID == id })]
}

// make sends the case's transaction. A claim is sent to DlnSource by the gate, with what the gate would pass on from
// the message: validators' signatures, and what they cover, are left out.
func (o orderChain) make(t *testing.T, db *state.StateDB, c orderCase) ([]byte, error) {
	t.Helper()
	if c.Call.Function != "claim" {
		return o.call(t, db, c.Tx, c.Block.Timestamp)
	}
	var message struct {
		ChainIDFrom string        `json:"_chainIdFrom"`
		AutoParams  hexutil.Bytes `json:"_autoParams"`
	}
	must.Do(t, json.Unmarshal(c.Call.Args, &message))
	carried := must.Get(abi.Arguments{{Type: must.Get(abi.NewType("tuple", "", []abi.ArgumentMarshaling{
		{Name: "executionFee", Type: "uint256"},
		{Name: "flags", Type: "uint256"},
		{Name: "fallbackAddress", Type: "address"},
		{Name: "data", Type: "bytes"},
		{Name: "nativeSender", Type: "bytes"},
	}))(t)}}.Unpack(message.AutoParams))(t)
	params := *abi.ConvertType(carried[0], new(struct {
		ExecutionFee, Flags *big.Int
		FallbackAddress     common.Address
		Data, NativeSender  []byte
	})).(*struct {
		ExecutionFee, Flags *big.Int
		FallbackAddress     common.Address
		Data, NativeSender  []byte
	})
	context := DeBridgeGate.NewState().
		Set("submissionChainIdFrom", bigOf(t, message.ChainIDFrom)).Set("submissionNativeSender", params.NativeSender)
	for slot, value := range context.Slots() {
		db.SetState(o.Contracts["gate"], slot, value)
	}
	return o.call(t, db, orderTx{From: o.Contracts["gate"], To: o.Contracts["dlnSource"], Data: params.Data, Value: "0"}, c.Block.Timestamp)
}

// call sends a transaction. If it fails, the state is unchanged.
func (o orderChain) call(t *testing.T, db *state.StateDB, tx orderTx, at uint64) ([]byte, error) {
	t.Helper()
	snapshot := db.Snapshot()
	output, _, err := runtime.Call(tx.To, tx.Data, &runtime.Config{
		ChainConfig: forkedFor(int64(o.EVMChainID)), State: db, Origin: tx.From, Value: bigOf(t, tx.Value),
		GasLimit: 20_000_000, Time: at, Random: new(common.Hash), BaseFee: new(big.Int),
	})
	if err != nil {
		db.RevertToSnapshot(snapshot)
	}
	return output, err
}

// checkRefusal compares revert data. Stand-ins of tokens have their own errors where the real tokens gave no reason.
func checkRefusal(t *testing.T, c orderCase, output []byte, err error) {
	t.Helper()
	if !errors.Is(err, vm.ErrExecutionReverted) {
		t.Fatalf("the call ended with %v, want a revert with %s", err, c.Result.Revert.Name)
	}
	if c.Call.Function == "claim" { // the gate hides why DlnSource refused
		inner := c.Result.InnerReverts
		if len(inner) == 0 || !strings.HasPrefix(describe(output), named(inner[len(inner)-1].Revert.Name, inner[len(inner)-1].Revert.Reason)) {
			t.Errorf("reverted with %s, want %+v", describe(output), inner)
		}
		return
	}
	if want := []byte(c.Result.Revert.Data); !bytes.Equal(output, want) {
		t.Errorf("reverted with %s (%x), want %s (%x)", describe(output), output, c.Result.Revert.Name, want)
	}
}

// named returns the prefix of describe's text for an error.
func named(name, reason string) string {
	switch name {
	case "Error":
		return reason
	case "(no data)":
		return "reverted"
	}
	return name
}

// checkOrderLogs compares the events of the order contracts and of the router.
func checkOrderLogs(t *testing.T, o orderChain, c orderCase, got []*types.Log) {
	t.Helper()
	at := map[string]common.Address{
		"DlnSource": o.Contracts["dlnSource"], "DlnDestination": o.Contracts["dlnDestination"], "DeBridgeRouter": o.Contracts["router"],
		"DlnExternalCallAdapter": o.Contracts["adapter"],
	}
	var ours []*types.Log
	for _, l := range got {
		for _, address := range at {
			if l.Address == address {
				ours = append(ours, l)
			}
		}
	}
	for _, want := range c.Result.Logs {
		if at[want.Contract] == (common.Address{}) || want.Event == "SentOrderUnlock" || want.Event == "SentOrderCancel" {
			continue // those contain the gate's message
		}
		ours = slices.DeleteFunc(ours, func(l *types.Log) bool { return isOfMessage(l) })
		if len(ours) == 0 {
			t.Errorf("no log %s", want.Event)
			return
		}
		if ours[0].Topics[0] != want.Topics[0] || !bytes.Equal(ours[0].Data, want.Data) {
			t.Errorf("log %s %x, want %s %x", ours[0].Topics[0], ours[0].Data, want.Event, []byte(want.Data))
		}
		ours = ours[1:]
	}
}

func isOfMessage(l *types.Log) bool {
	return l.Topics[0] == DlnDestination.Topic("SentOrderUnlock") || l.Topics[0] == DlnDestination.Topic("SentOrderCancel")
}

// checkDeltas compares the changes of balances, except those of stand-ins.
func checkDeltas(t *testing.T, o orderChain, c orderCase, before, after *state.StateDB) {
	t.Helper()
	for _, change := range c.Result.BalanceChanges {
		if left := map[string]bool{"Venue": true, "ScriptedVenue": true, "GateWithId": true, "Weth": true}; left[change.Name] {
			continue
		}
		balance := func(db *state.StateDB) *big.Int { return db.GetBalance(change.Account).ToBig() }
		if change.Token != "native" {
			at := common.HexToAddress(change.Token)
			if after.GetCodeSize(at) == 0 {
				continue // deBridge's token for what a message carried
			}
			balance = func(db *state.StateDB) *big.Int {
				return db.GetState(at, slotOf(o.tokenAt(at), "balanceOf", change.Account)).Big()
			}
		}
		if got := new(big.Int).Sub(balance(after), balance(before)); got.String() != change.Delta {
			t.Errorf("%s %s: %s of %s, want %s", change.Name, change.Account, got, change.Token, change.Delta)
		}
	}
}

func (o orderChain) tokenAt(at common.Address) *Contract {
	for _, token := range o.Tokens {
		if token.Address == at {
			return tokenFor(token.Behaviour)
		}
	}
	return Token
}

// checkStored compares the orders stored in the contracts.
func checkStored(t *testing.T, o orderChain, c orderCase, db *state.StateDB) {
	t.Helper()
	read := func(contract *Contract, at, method string, arguments ...any) []any {
		data := contract.Pack(method, arguments...)
		output, err := o.call(t, db, orderTx{To: o.Contracts[at], Data: data, Value: "0"}, c.Block.Timestamp)
		if err != nil {
			t.Fatalf("%s: %v", method, err)
		}
		values := must.Get(contract.ABI.Methods[method].Outputs.Unpack(output))(t)
		return values
	}
	for _, want := range c.Result.StateAfter.Orders {
		if give := want.GiveOrders; give != nil {
			got := read(DlnSource, "dlnSource", "giveOrders", want.OrderID)
			wanted := []any{
				uint8(give.Status), give.GiveTokenAddress.Big(), bigOf(t, give.NativeFixFee), bigOf(t, give.TakeChainID), bigOf(t, give.PercentFee),
				bigOf(t, give.GiveAmount), give.AffiliateBeneficiary, bigOf(t, give.AffiliateAmount),
			}
			for i := range wanted {
				if n, is := wanted[i].(*big.Int); is && n.Cmp(got[i].(*big.Int)) == 0 || got[i] == wanted[i] {
					continue
				}
				t.Errorf("giveOrders[%d] of %s = %v, want %v", i, want.OrderID, got[i], wanted[i])
			}
		}
		if take := want.TakeOrders; take != nil {
			got := read(DlnDestination, "dlnDestination", "takeOrders", want.OrderID)
			if got[0] != uint8(take.Status) || got[1] != take.TakerAddress {
				t.Errorf("takeOrders of %s = %v, want %+v", want.OrderID, got, *take)
			}
		}
		for method, patched := range map[string]string{"givePatches": want.GivePatches, "takePatches": want.TakePatches} {
			contract, at := DlnSource, "dlnSource"
			if strings.HasPrefix(method, "take") {
				contract, at = DlnDestination, "dlnDestination"
			}
			if got := read(contract, at, method, want.OrderID)[0].(*big.Int); patched != "" && got.String() != patched {
				t.Errorf("%s of %s = %s, want %s", method, want.OrderID, got, patched)
			}
		}
	}
	if nonce := c.Result.StateAfter.MasterNonce; nonce != "" {
		if got := read(DlnSource, "dlnSource", "masterNonce", c.Tx.From)[0].(*big.Int); got.String() != nonce {
			t.Errorf("masterNonce = %s, want %s", got, nonce)
		}
	}
}
