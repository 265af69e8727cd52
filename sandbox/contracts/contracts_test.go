package contracts

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"crossgate/internal/must"
)

var all = []*Contract{
	DlnSource, DlnDestination, DeBridgeGate, ExternalCallAdapter, DeBridgeRouter, CallTarget, MultiCaller, Multicall3,
	Token, TaxedToken, SilentToken, BytesToken, MuteToken, WrappedCoin, Pool, PoolFactory, PoolRouter, FeePoolQuoter, FeePoolRouter, RoutePoolRouter,
	RangePool, RangePoolRouter, SpenderVenue, VenueRouter, TokenApproval, PriceOracle, SettlerRegistry, SmartExchangeRouter,
}

// compile.mjs computes the same hash.
func TestArtifactsBelongToTheSources(t *testing.T) {
	files, err := filepath.Glob("*.sol")
	if err != nil || len(files) == 0 {
		t.Fatalf("Glob(*.sol) = %v, %v, want the sources", files, err)
	}
	sort.Strings(files)
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

// Topics and selectors as the deployed contracts have them; they were read from their published ABIs.
func TestInterfacesAreTheRealOnes(t *testing.T) {
	topics := []struct {
		contract    *Contract
		event, want string
	}{
		{DlnSource, "CreatedOrder", "fc8703fd"},
		{DlnSource, "CreatedOrder0", "47ef43a3"},
		{DlnSource, "IncreasedGiveAmount", "4f3bc5fa"},
		{DlnSource, "AffiliateFeePaid", "9077c15d"},
		{DlnSource, "ClaimedUnlock", "33fff3d8"},
		{DlnSource, "ClaimedOrderCancel", "7d7d1c5b"},
		{DlnSource, "UnexpectedOrderStatusForClaim", "c65cdb43"},
		{DlnSource, "UnexpectedOrderStatusForCancel", "9302619b"},
		{DlnSource, "CriticalMismatchChainId", "29af03f8"},
		{DlnSource, "SetDlnDestinationAddress", "82568678"},
		{DlnDestination, "FulfilledOrder", "c164aca3"},
		{DlnDestination, "FulfilledOrder0", "d281ee92"},
		{DlnDestination, "DecreasedTakeAmount", "08c645e3"},
		{DlnDestination, "SentOrderUnlock", "37a01d7d"},
		{DlnDestination, "SentOrderCancel", "c756fd02"},
		{DlnDestination, "SetDlnSourceAddress", "1a6f092b"},
		{ExternalCallAdapter, "ExternalCallRegistered", "cb08fcc1"},
		{ExternalCallAdapter, "ExternallCallRegistered", "302c1fa2"},
		{ExternalCallAdapter, "ExternalCallExecuted", "e0320f35"},
		{ExternalCallAdapter, "ExternalCallFailed", "faebec55"},
		{ExternalCallAdapter, "ExternalCallCancelled", "00dcd3c8"},
		{DeBridgeGate, "Sent", "e3157218"},
		{DeBridgeGate, "Claimed", "fee5cae6"},
		{DeBridgeGate, "AutoRequestExecuted", "b5fadd70"},
		{DeBridgeRouter, "SwapExecuted", "dde2f371"},
		{DeBridgeRouter, "Refund", "149635d1"},
		{DeBridgeRouter, "SameChainSwapExecuted", "ecfedc7a"},
		{DeBridgeRouter, "AffiliateFeePaid", "6a0f4594"},
		{DeBridgeRouter, "CollectedFee", "5a7af898"},
		{DeBridgeRouter, "SupportedRouter", "3fc30fe9"},
		{DeBridgeRouter, "AllowanceAggregatorUpdated", "17acbaf0"},
		{DeBridgeRouter, "SwapVariableFeeBpsUpdated", "6b24b4ec"},
		{DeBridgeRouter, "FeeTreasuryUpdated", "10d6c00f"},
		{Token, "Transfer", "ddf252ad"},
	}
	for _, tt := range topics {
		if got := hex.EncodeToString(tt.contract.Topic(tt.event).Bytes()[:4]); got != tt.want {
			t.Errorf("topic of %s.%s = %s (%s), want %s", tt.contract.Name, tt.event, got, tt.contract.ABI.Events[tt.event].Sig, tt.want)
		}
	}
	selectors := []struct {
		contract     *Contract
		method, want string
	}{
		{DlnSource, "createOrder", "fbe16ca7"},
		{DlnSource, "createSaltedOrder", "b9303701"},
		{DlnSource, "claimUnlock", "5886d8d2"},
		{DlnSource, "claimBatchUnlock", "6abd4ea7"},
		{DlnSource, "claimCancel", "d48b0146"},
		{DlnSource, "claimBatchCancel", "924a062c"},
		{DlnSource, "giveOrders", "b2a453f8"},
		{DlnSource, "givePatches", "6fba7f71"},
		{DlnSource, "getOrderId", "50e95591"},
		{DlnSource, "getChainId", "3408e470"},
		{DlnSource, "masterNonce", "df21dc1d"},
		{DlnSource, "globalFixedNativeFee", "35087f0a"},
		{DlnSource, "globalTransferFeeBps", "5c837198"},
		{DlnSource, "dlnDestinationAddresses", "14bb1361"},
		{DlnSource, "unexpectedOrderStatusForClaim", "a7c5f504"},
		{DlnDestination, "takeOrders", "5b2f30e9"},
		{DlnDestination, "takePatches", "85587a4f"},
		{DlnDestination, "sendEvmUnlock", "b41100b3"},
		{DlnDestination, "sendBatchEvmUnlock", "5b5a646e"},
		{DlnDestination, "dlnSourceAddresses", "85d8e978"},
		{DlnDestination, "externalCallAdapter", "9aa69b84"},
		{DlnDestination, "maxOrderCountPerBatchEvmUnlock", "a3a9eee6"},
		{DeBridgeGate, "isSubmissionUsed", "65ac9f78"},
		{ExternalCallAdapter, "externalCallStatus", "2f09a943"},
		{DeBridgeRouter, "strictlySwapAndCall", "4d8160ba"},
		{DeBridgeRouter, "swap", "258c16ee"},
		{DeBridgeRouter, "simulateSwap", "6e8f99c9"},
		{DeBridgeRouter, "supportedRouters", "9879c48d"},
		{DeBridgeRouter, "swapVariableFeeBps", "edc8fef6"},
		{DeBridgeRouter, "feeTreasury", "60dc2340"},
		{DeBridgeRouter, "version", "54fd4d50"},
		{Multicall3, "aggregate3", "82ad56cb"},
		{Multicall3, "tryAggregate", "bce38bd7"},
		{PoolRouter, "getAmountsOut", "d06ca61f"},
		{PoolFactory, "getPair", "e6a43905"},
		{PoolFactory, "getPool", "1698ee82"},
		{FeePoolQuoter, "quoteExactInputSingle", "c6a5026a"},
		{FeePoolQuoter, "quoteExactInput", "cdca1753"},
		{FeePoolRouter, "exactInputSingle", "04e45aaf"},
		{FeePoolRouter, "exactInput", "b858183f"},
		{FeePoolRouter, "multicall", "5ae401dc"},
		{FeePoolRouter, "unwrapWETH9", "49404b7c"},
		{RoutePoolRouter, "getAmountsOut", "5509a1ac"},
		{RoutePoolRouter, "swapExactTokensForTokens", "cac88ea9"},
		{RoutePoolRouter, "swapExactETHForTokens", "903638a4"},
		{RoutePoolRouter, "swapExactTokensForETH", "c6b7f1b6"},
		{PoolRouter, "swapExactTokensForTokens", "38ed1739"},
		{PoolRouter, "swapExactETHForTokens", "7ff36ab5"},
		{PoolRouter, "swapExactTokensForETH", "18cbafe5"},
		{PoolRouter, "swapExactTokensForTokensSupportingFeeOnTransferTokens", "5c11d795"},
		{RangePool, "swap", "128acb08"},
		{PriceOracle, "getAssetPrice", "b3596f07"},
		{RangePoolRouter, "exactInputSingle", "04e45aaf"},
		{RangePoolRouter, "uniswapV3SwapCallback", "fa461e33"},
	}
	for _, tt := range selectors {
		if got := hex.EncodeToString(tt.contract.ABI.Methods[tt.method].ID); got != tt.want {
			t.Errorf("selector of %s.%s = %s (%s), want %s", tt.contract.Name, tt.method, got, tt.contract.ABI.Methods[tt.method].Sig, tt.want)
		}
	}
}

func TestLongBytesLieBehindTheHashOfTheirSlot(t *testing.T) {
	long := make([]byte, 40)
	for i := range long {
		long[i] = byte(i + 1)
	}
	slots := DlnSource.NewState().Set("dlnDestinationAddresses", long, uint64(7565164)).Slots()
	at := crypto.Keccak256Hash(word(uint64(7565164)).Bytes(), word(DlnSource.storage["dlnDestinationAddresses"].Slot).Bytes())
	if got, want := slots[at], word(uint64(81)); got != want {
		t.Errorf("length word = %s, want %s", got, want)
	}
	first := slots[crypto.Keccak256Hash(at.Bytes())]
	if got, want := first.Bytes(), long[:32]; string(got) != string(want) {
		t.Errorf("first data word = %x, want %x", got, want)
	}
	if len(slots) != 3 {
		t.Errorf("%d slots, want the length and two of data", len(slots))
	}
}
