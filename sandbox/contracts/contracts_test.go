package contracts

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/internal/recorded"
	"crossgate/order"
	"crossgate/order/creation"
	"crossgate/sandbox/solana"
)

var all = []*Contract{
	DlnSource, DlnDestination, DeBridgeGate, ExternalCallAdapter, DeBridgeRouter, CallTarget, MultiCaller, Multicall3,
	Token, TaxedToken, SilentToken, BytesToken, MuteToken, WrappedCoin, Pool, PoolFactory, PoolRouter, FeePoolQuoter, FeePoolRouter, RoutePoolRouter,
	RangePool, RangePoolRouter, SpenderVenue, VenueRouter, TokenApproval, PriceOracle, SettlerRegistry, SmartExchangeRouter,
	DenyingToken, IdleToken, StandInVenue, CallingWallet, StandInTarget,
}

// TestArtifactsBelongToTheSources compares the artifacts' hash with that of the sources, computed as in compile.mjs.
func TestArtifactsBelongToTheSources(t *testing.T) {
	files, err := filepath.Glob("*.sol")
	if err != nil || len(files) == 0 {
		t.Fatalf("Glob(*.sol) = %v, %v, want the sources", files, err)
	}
	slices.Sort(files)
	hash := sha256.New()
	for _, file := range files {
		fmt.Fprintf(hash, "%s\n%s\n", file, must.Get(os.ReadFile(file))(t))
	}
	want := hex.EncodeToString(hash.Sum(nil))
	for _, contract := range all {
		if contract.sourceHash != want {
			t.Errorf("artifact of %s was made from other sources: run make contracts", contract.Name)
		}
	}
}

func TestEveryArtifactIsLoaded(t *testing.T) {
	entries := must.Get(artifacts.ReadDir("artifacts"))(t)
	if len(entries) != len(all) {
		t.Errorf("%d artifacts, %d contracts: an artifact that nobody loads should not be compiled", len(entries), len(all))
	}
}

// TestInterfacesAreTheRealOnes proves that topics and selectors begin with the same bytes as those of the deployed
// contracts, which come from their published ABIs.
func TestInterfacesAreTheRealOnes(t *testing.T) {
	compared := 0
	for line := range strings.Lines(string(must.Get(os.ReadFile("testdata/interfaces.txt"))(t))) {
		var want, kind, contract, name string
		must.Get(fmt.Sscan(line, &want, &kind, &contract, &name))(t)
		at := slices.IndexFunc(all, func(c *Contract) bool { return c.Name == contract })
		if at < 0 {
			t.Fatalf("the sandbox has no contract %s", contract)
		}
		id, signature := all[at].ABI.Methods[name].ID, all[at].ABI.Methods[name].Sig
		if kind == "event" {
			id, signature = all[at].Topic(name).Bytes()[:4], all[at].ABI.Events[name].Sig
		}
		if got := hex.EncodeToString(id); got != want {
			t.Errorf("%s %s.%s = %s (%s), want %s", kind, contract, name, got, signature, want)
		}
		compared++
	}
	if compared < 80 {
		t.Errorf("%d topics and selectors were compared", compared)
	}
}

// TestChecksComeAsInTheRealContract breaks several rules at once, of which the first one in the contract's sequence is
// reported (dln-contracts, DlnDestination.sol 1.4.0), and pays for an order from Solana with a call.
func TestChecksComeAsInTheRealContract(t *testing.T) {
	var r orderRecording
	recorded.JSON(t, "golden/create/orders-vectors-A.json", &r)
	o, db, named := r.chain(137), baseWorld(t, &r)[137], map[string]common.Address{}
	for account, name := range r.Accounts {
		named[name] = account
	}
	taker, authority, stranger := named["taker1"], named["authority"], named["stranger"]
	call := creation.Call{
		Fallback: chain.NewAddress(stranger.Bytes()), Executor: chain.NativeCoin(chain.EVM), Delayed: true,
		Payload: creation.CallPayload(chain.NewAddress(stranger.Bytes()), 0, []byte("call")),
	}.Envelope()
	from := func(give uint64, token common.Address, call []byte) solana.Terms {
		key := bytes.Repeat([]byte{9}, 32)
		return solana.Terms{
			Nonce: give, Maker: key, GiveChain: new(big.Int).SetUint64(give), GiveToken: key, GiveAmount: big.NewInt(7),
			TakeChain: big.NewInt(137), TakeToken: token.Bytes(), TakeAmount: big.NewInt(5), Receiver: stranger.Bytes(),
			PatchAuthority: key, Authority: authority.Bytes(), ExternalCall: call,
		}
	}
	evm, other, usdc := from(1, common.Address{}, nil), from(10, common.Address{}, nil), from(1, o.Tokens[0].Address, nil)
	onSolana, unknown, none := from(uint64(chain.Solana), common.Address{}, call), from(999, common.Address{}, nil), new(big.Int)
	paid := must.Get(creation.NewUnlock([]*order.Order{{
		ID: onSolana.ID(), State: order.StateFulfilled, Fulfilled: &order.Seen[order.Fulfilled]{}, Terms: order.Terms{
			Nonce: onSolana.Nonce, Maker: chain.NewAddress(onSolana.Maker), Receiver: chain.NewAddress(onSolana.Receiver),
			Give: order.Offer{Chain: chain.Solana, Token: chain.NewAddress(onSolana.GiveToken), Amount: chain.NewAmount(7)},
			Take: order.Offer{Chain: 137, Token: chain.NewAddress(onSolana.TakeToken), Amount: chain.NewAmount(5)},
			Authorities: order.Authorities{
				GivePatch: chain.NewAddress(onSolana.PatchAuthority), Order: chain.NewAddress(onSolana.Authority),
			},
			ExternalCall: call,
		},
	}}, chain.NewAddress(onSolana.Maker)))(t).Data()
	fulfil := func(o solana.Terms) []byte {
		return DlnDestination.Pack("fulfillOrder", o, o.TakeAmount, o.ID(), []byte{}, taker, common.Address{})
	}
	cancel := func(function string, o solana.Terms, more ...any) []byte {
		return DlnDestination.Pack(function, append([]any{o}, more...)...)
	}
	for _, step := range []struct {
		name string
		by   common.Address
		data []byte
		want string
	}{
		{"a delivery", taker, fulfil(evm), ""},
		{"a delivery of tokens with coin", taker, fulfil(usdc), ""},
		{"a delivery with a call", taker, fulfil(onSolana), ""},
		{"a delivery from an unknown chain", taker, fulfil(unknown), ""},
		{"a stranger's cancel", stranger, cancel("sendEvmOrderCancel", evm, stranger, none), "Unauthorized"},
		{"a late cancel", authority, cancel("sendEvmOrderCancel", evm, stranger, none), "IncorrectOrderStatus"},
		{"a cancel to Solana", authority, cancel("sendSolanaOrderCancel", other, [32]byte{}, none, uint64(0), uint64(0)), "WrongChain"},
		{"a late patch of nothing", authority, cancel("patchOrderTake", evm, none), "WrongArgument"},
		{"an unlock of both kinds", taker, DlnDestination.Pack("sendBatchEvmUnlock", [][32]byte{evm.ID(), onSolana.ID()}, taker, none), "WrongChain"},
		{"an unlock with the call", taker, cancel("sendSolanaUnlock", onSolana, [32]byte{}, none, uint64(0), uint64(0)), "WrongExternalCallHash"},
		{"an unlock with its hash", taker, paid, ""},
	} {
		value := map[bool]string{true: "5", false: o.GateGlobalFixedNativeFee}[strings.HasPrefix(step.name, "a delivery")]
		if step.want == "WrongArgument" {
			value = "0"
		}
		output, err := o.call(t, db, orderTx{From: step.by, To: o.Contracts["dlnDestination"], Value: value, Data: step.data}, 1_790_000_000)
		if got := describe(output); (err == nil) != (step.want == "") || err != nil && !strings.HasPrefix(got, step.want) {
			t.Errorf("%s: %v, %s, want %q", step.name, err, got, step.want)
		}
	}
}
