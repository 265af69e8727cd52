package contracts

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/core/vm/runtime"
	"github.com/ethereum/go-ethereum/params"

	"crossgate/internal/recorded"
)

// routerRecording is a recording of the real router on two chains.
type routerRecording struct {
	Chains []struct {
		ChainID   int64
		Contracts struct {
			Router, UniswapV2Router02, UniswapV3SwapRouter02                     common.Address
			VenueWithSeparateSpender, SeparateSpender, ContractThatRefusesNative common.Address
			Tokens                                                               map[string]struct {
				Address  common.Address
				Decimals uint64
			}
		}
		Accounts struct{ Deployer, DlnDestination common.Address }
		Vectors  []routerVector
	}
}

type routerVector struct {
	ID      string
	Prepare []struct {
		What, Data, Value string
		From, To          common.Address
	}
	State struct {
		SwapVariableFeeBps uint64
		FeeTreasury        common.Address
		SwapRouter         struct {
			Address             common.Address
			IsSupported         bool
			AllowanceAggregator common.Address
		}
		Reserves []struct {
			Pair, Token0, Token1 common.Address
			Reserve0, Reserve1   string
		}
		V3 *struct {
			Pool                    common.Address
			Fee                     uint64
			SqrtPriceX96, Liquidity string
		}
		SenderAllowanceToRouter string
		RouterAllowance         *struct {
			Spender common.Address
			Amount  string
		}
	}
	Call struct {
		Args struct {
			TokenIn     common.Address
			SwapDetails struct{ TokenOut common.Address }
		}
	}
	Permit *struct {
		Domain struct {
			Name              string
			VerifyingContract common.Address
		}
	}
	Tx struct {
		From, To    common.Address
		Data, Value string
	}
	Result struct {
		Status, ReturnData, RevertData string
		Error                          *struct{ Name string }
	}
	Logs []struct {
		Address  common.Address
		Contract string
		Topics   []common.Hash
		Data     string
	}
	BalanceChanges []struct {
		Role, Before, After string
		Account, Token      common.Address
	}
}

// TestRouterBehavesAsTheRealOne replays the recorded calls of the real router from their original state. Results, logs
// and balances must be the same.
func TestRouterBehavesAsTheRealOne(t *testing.T) {
	var recording routerRecording
	recorded.JSON(t, "golden/router/router-vectors-A.json", &recording)
	replayed := 0
	for i, c := range recording.Chains {
		for _, v := range c.Vectors {
			replayed++
			t.Run(v.ID, func(t *testing.T) { replay(t, &recording, i, v) })
		}
	}
	if replayed != recordedCalls {
		t.Errorf("%d calls replayed, want all %d of the recording", replayed, recordedCalls)
	}
}

const recordedCalls = 234

func replay(t *testing.T, recording *routerRecording, chainIndex int, v routerVector) {
	db := layOut(t, recording, chainIndex, v)
	call := func(from common.Address, data, value string) ([]byte, error) {
		config := &runtime.Config{
			ChainConfig: forkedFor(recording.Chains[chainIndex].ChainID), State: db, Origin: from, Value: bigOf(t, value),
			GasLimit: 10_000_000, Time: 1_700_000_000, Random: new(common.Hash), BaseFee: new(big.Int),
		}
		output, _, err := runtime.Call(v.Tx.To, common.FromHex(data), config)
		return output, err
	}
	for _, step := range v.Prepare {
		if step.To != v.Tx.To {
			continue // already in the state
		}
		if output, err := call(step.From, step.Data, step.Value); err != nil {
			t.Fatalf("%s: %v: %s", step.What, err, describe(output))
		}
	}
	before := len(db.Logs())
	output, err := call(v.Tx.From, v.Tx.Data, v.Tx.Value)
	if v.Result.Status == "revert" {
		checkRevert(t, v, output, err)
		return
	}
	if err != nil {
		t.Fatalf("%v: %s", err, describe(output))
	}
	if got := "0x" + hex.EncodeToString(output); got != v.Result.ReturnData {
		t.Errorf("returned %s, want %s", got, v.Result.ReturnData)
	}
	checkLogs(t, v, db.Logs()[before:])
	checkBalances(t, recording, chainIndex, v, db)
}

// forkedFor enables every fork of a merged chain from the start.
func forkedFor(chainID int64) *params.ChainConfig {
	config := *params.MergedTestChainConfig
	config.ChainID = big.NewInt(chainID)
	return &config
}

// checkRevert compares the router's own errors byte by byte. Errors of tokens and venues are their own: there, the call
// only has to fail in the same place.
func checkRevert(t *testing.T, v routerVector, output []byte, err error) {
	t.Helper()
	if !errors.Is(err, vm.ErrExecutionReverted) {
		t.Fatalf("the call ended with %v, want a revert with %s", err, v.Result.Error.Name)
	}
	want := common.FromHex(v.Result.RevertData)
	switch v.Result.Error.Name {
	case "CallFailed":
		const targetEnd = 4 + 32
		if len(output) < targetEnd || !bytes.Equal(output[:targetEnd], want[:targetEnd]) {
			t.Errorf("reverted with %s, want %s of the same target", describe(output), v.Result.Error.Name)
		}
	case "Error":
		if _, err := DeBridgeRouter.ABI.ErrorByID([4]byte(output[:4])); err == nil {
			t.Errorf("reverted with %s, want the token's own error", describe(output))
		}
	default:
		if !bytes.Equal(output, want) {
			t.Errorf("reverted with %s (%x), want %s (%x)", describe(output), output, v.Result.Error.Name, want)
		}
	}
}

func checkLogs(t *testing.T, v routerVector, got []*types.Log) {
	t.Helper()
	var ours []*types.Log
	for _, l := range got {
		if l.Address == v.Tx.To {
			ours = append(ours, l)
		}
	}
	for _, want := range v.Logs {
		if want.Address != v.Tx.To {
			continue
		}
		if len(ours) == 0 {
			t.Errorf("no log %s", want.Topics[0])
			return
		}
		if ours[0].Topics[0] != want.Topics[0] || "0x"+hex.EncodeToString(ours[0].Data) != want.Data {
			t.Errorf("log %s %x, want %s %s", ours[0].Topics[0], ours[0].Data, want.Topics[0], want.Data)
		}
		ours = ours[1:]
	}
	if len(ours) > 0 {
		t.Errorf("%d logs too many", len(ours))
	}
}

func checkBalances(t *testing.T, recording *routerRecording, chainIndex int, v routerVector, db *state.StateDB) {
	t.Helper()
	for _, change := range v.BalanceChanges {
		got := db.GetBalance(change.Account).ToBig()
		if change.Token != (common.Address{}) {
			slot := slotOf(tokenAt(recording, chainIndex, change.Token), "balanceOf", change.Account)
			got = db.GetState(change.Token, slot).Big()
		}
		if got.String() != change.After {
			t.Errorf("%s has %s of %s, want %s", change.Role, got, change.Token, change.After)
		}
	}
}

func describe(data []byte) string {
	return fmt.Sprint(Explain(reverted(data)))
}

// reverted is revert data in the form that Explain expects.
type reverted []byte

func (r reverted) Error() string  { return "reverted" }
func (r reverted) ErrorCode() int { return 3 }
func (r reverted) ErrorData() any { return "0x" + hex.EncodeToString(r) }
