package contracts

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/core/vm/runtime"
	"github.com/ethereum/go-ethereum/params"
	"github.com/holiman/uint256"
)

// routerRecording is what the real router did on two chains.
type routerRecording struct {
	Chains []struct {
		ChainID   int64
		Contracts struct {
			Router, UniswapV2Router02, ContractThatRefusesNative common.Address
			Tokens                                               map[string]struct {
				Address  common.Address
				Decimals uint64
			}
			Pools map[string]common.Address
		}
		Accounts struct{ DlnDestination common.Address }
		Vectors  []routerVector
	}
}

type routerVector struct {
	ID    string
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
		V3                      json.RawMessage
		SenderAllowanceToRouter string
		RouterAllowance         *struct {
			Spender common.Address
			Amount  string
		}
	}
	Call struct {
		Args struct{ TokenIn common.Address }
	}
	Permit *struct {
		Domain struct {
			Name              string
			VerifyingContract common.Address
		}
	}
	Inner *struct{ Signature string }
	Tx    struct {
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

// TestRouterBehavesAsTheRealOne makes the calls that the real router was recorded with, from the state in
// which it was called, and wants the same results, logs and balances.
func TestRouterBehavesAsTheRealOne(t *testing.T) {
	path := filepath.Join("..", "..", "..", "shared", "golden", "router", "router-vectors-A.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Skipf("recording not present: %s; it is in the folder shared, which lies beside the repository", path)
	}
	var recording routerRecording
	if err := json.Unmarshal(text, &recording); err != nil {
		t.Fatal(err)
	}
	replayed, passedOver := 0, map[string]int{}
	for i, c := range recording.Chains {
		for _, v := range c.Vectors {
			if why := beyondTheSandbox(v); why != "" {
				passedOver[why]++
				continue
			}
			replayed++
			t.Run(v.ID, func(t *testing.T) { replay(t, &recording, i, v) })
		}
	}
	if !maps.Equal(passedOver, unplayable) {
		t.Errorf("calls that were passed over, by what the sandbox lacks for them: %v, want %v", passedOver, unplayable)
	}
	t.Logf("%d calls replayed", replayed)
}

// unplayable are the calls whose outcome is the arithmetic of a venue that the sandbox does not have. What the router
// makes of an outcome is in the others; how its calls are encoded is tested with all of them in upstream/evm.
var unplayable = map[string]int{
	"Uniswap V3": 6, "a venue with a separate spender": 10, "Uniswap V2 for taxed tokens": 4,
}

// beyondTheSandbox says which contract a call needs that is not in the sandbox.
func beyondTheSandbox(v routerVector) string {
	if v.Result.Status == "revert" && v.Result.Error.Name == "NotSupportedRouter" || v.Inner == nil {
		return "" // the venue is never called
	}
	switch name, _, _ := strings.Cut(v.Inner.Signature, "("); name {
	case "multicall", "exactInputSingle":
		return "Uniswap V3"
	case "go":
		return "a venue with a separate spender"
	case "swapExactTokensForTokensSupportingFeeOnTransferTokens":
		return "Uniswap V2 for taxed tokens"
	}
	return ""
}

func replay(t *testing.T, recording *routerRecording, chainIndex int, v routerVector) {
	db := layOut(t, recording, chainIndex, v)
	value, _ := uint256.FromDecimal(v.Tx.Value)
	config := &runtime.Config{
		ChainConfig: forkedFor(recording.Chains[chainIndex].ChainID), State: db, Origin: v.Tx.From, Value: value.ToBig(),
		GasLimit: 10_000_000, Time: 1_700_000_000, Random: new(common.Hash), BaseFee: new(big.Int),
	}
	output, _, err := runtime.Call(v.Tx.To, common.FromHex(v.Tx.Data), config)
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
	checkLogs(t, v, db.Logs())
	checkBalances(t, recording, chainIndex, v, db)
}

// forkedFor has every fork of a merged chain from the start.
func forkedFor(chainID int64) *params.ChainConfig {
	config := *params.MergedTestChainConfig
	config.ChainID = big.NewInt(chainID)
	return &config
}

// checkRevert wants the router's own errors to the byte. Those of tokens and venues are theirs: there, that
// the call fails in the same place is enough.
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

// reverted is revert data as Explain reads it.
type reverted []byte

func (r reverted) Error() string  { return "reverted" }
func (r reverted) ErrorCode() int { return 3 }
func (r reverted) ErrorData() any { return "0x" + hex.EncodeToString(r) }

// tokenAt is the contract of ours that stands for a token of the recording.
func tokenAt(recording *routerRecording, chainIndex int, at common.Address) *Contract {
	for symbol, token := range recording.Chains[chainIndex].Contracts.Tokens {
		if token.Address != at {
			continue
		}
		switch symbol {
		case "FOT":
			return TaxedToken
		case "USDTL":
			return SilentToken
		case "WETH":
			return WrappedCoin
		}
	}
	return Token
}

// slotOf is where a contract keeps a mapping's element.
func slotOf(c *Contract, name string, keys ...any) common.Hash {
	for slot := range c.NewState().Set(name, common.MaxHash, keys...).Slots() {
		return slot
	}
	return common.Hash{}
}

// layOut puts our contracts into the state in which the real ones were.
func layOut(t *testing.T, recording *routerRecording, chainIndex int, v routerVector) *state.StateDB {
	t.Helper()
	db, err := state.New(types.EmptyRootHash, state.NewDatabaseForTesting())
	if err != nil {
		t.Fatal(err)
	}
	c := recording.Chains[chainIndex]
	states := map[common.Address]*State{}
	for _, token := range c.Contracts.Tokens {
		s := tokenAt(recording, chainIndex, token.Address).NewState().Set("decimals", token.Decimals)
		for _, other := range c.Vectors {
			if other.Permit != nil && token.Address == other.Permit.Domain.VerifyingContract {
				s.Set("name", other.Permit.Domain.Name)
			}
		}
		states[token.Address] = s
	}
	listing := new(big.Int).Lsh(v.State.SwapRouter.AllowanceAggregator.Big(), 8)
	if v.State.SwapRouter.IsSupported {
		listing.SetBit(listing, 0, 1)
	}
	states[c.Contracts.Router] = DeBridgeRouter.NewState().
		Set("feeTreasury", v.State.FeeTreasury).
		Set("swapVariableFeeBps", v.State.SwapVariableFeeBps).
		Set("dlnDestination", c.Accounts.DlnDestination).
		Set("supportedRouters", listing, v.State.SwapRouter.Address)
	wrapped := c.Contracts.Tokens["WETH"].Address
	layPools(t, states, c.Contracts.UniswapV2Router02, wrapped, v)
	layBalances(t, db, states, v)
	backing := uint256.MustFromDecimal("1000000000000000000000000")
	db.AddBalance(wrapped, backing, tracing.BalanceChangeUnspecified)
	states[wrapped].Set("totalSupply", backing.ToBig())
	for at, s := range states {
		db.SetCode(at, s.contract.Runtime, tracing.CodeChangeUnspecified)
		for slot, value := range s.Slots() {
			db.SetState(at, slot, value)
		}
	}
	refusing := common.FromHex("0x60006000fd") // PUSH1 0 PUSH1 0 REVERT
	db.SetCode(c.Contracts.ContractThatRefusesNative, refusing, tracing.CodeChangeUnspecified)
	return db
}

func layPools(t *testing.T, states map[common.Address]*State, router, wrapped common.Address, v routerVector) {
	t.Helper()
	factory := common.BytesToAddress([]byte("the pools' factory"))
	pairs := PoolFactory.NewState()
	for _, r := range v.State.Reserves {
		reserve0, reserve1 := bigOf(t, r.Reserve0), bigOf(t, r.Reserve1)
		states[r.Pair] = Pool.NewState().Set("token0", r.Token0).Set("token1", r.Token1).Set("feeBps", uint64(30)).
			Set("reserve0", reserve0).Set("reserve1", reserve1)
		states[r.Token0].Set("balanceOf", reserve0, r.Pair)
		states[r.Token1].Set("balanceOf", reserve1, r.Pair)
		pairs.Set("getPair", r.Pair, r.Token0, r.Token1).Set("getPair", r.Pair, r.Token1, r.Token0)
	}
	states[factory] = pairs
	states[router] = PoolRouter.NewState().Set("WETH", wrapped).Set("factory", factory)
}

func layBalances(t *testing.T, db *state.StateDB, states map[common.Address]*State, v routerVector) {
	t.Helper()
	sender, router := v.Tx.From, v.Tx.To
	db.AddBalance(sender, uint256.MustFromDecimal("1000000000000000000000"), tracing.BalanceChangeUnspecified)
	for _, s := range states {
		if _, isToken := s.contract.storage["balanceOf"]; isToken {
			s.Set("balanceOf", bigOf(t, "10000000000000000000000000000"), sender)
		}
	}
	for _, change := range v.BalanceChanges {
		if s, isToken := states[change.Token]; isToken {
			s.Set("balanceOf", bigOf(t, change.Before), change.Account)
			continue
		}
		before := uint256.MustFromDecimal(change.Before)
		db.SetBalance(change.Account, before, tracing.BalanceChangeUnspecified)
	}
	in, isToken := states[v.Call.Args.TokenIn]
	if !isToken {
		return
	}
	if v.State.SenderAllowanceToRouter != "" {
		in.Set("allowance", bigOf(t, v.State.SenderAllowanceToRouter), sender, router)
	}
	if held := v.State.RouterAllowance; held != nil {
		in.Set("allowance", bigOf(t, held.Amount), router, held.Spender)
	}
}

func bigOf(t *testing.T, text string) *big.Int {
	t.Helper()
	n, ok := new(big.Int).SetString(text, 10)
	if !ok {
		t.Fatalf("%q is no number", text)
	}
	return n
}
