// Package contracts holds the sandbox's Solidity contracts as compiled artifacts. Their sources are in the same folder;
// compile.mjs builds the artifacts.
package contracts

import (
	"embed"
	"encoding/json"
	"fmt"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

//go:embed artifacts/*.json
var artifacts embed.FS

// Contract is a compiled contract: genesis places Runtime at an address and fills its storage.
type Contract struct {
	Name    string
	ABI     abi.ABI
	Runtime []byte

	storage    map[string]variable
	sourceHash string
}

// The order protocol's contracts, and those around it.
var (
	DlnSource           = load("DlnSource")
	DlnDestination      = load("DlnDestination")
	DeBridgeGate        = load("DeBridgeGate")
	ExternalCallAdapter = load("ExternalCallAdapter")
	DeBridgeRouter      = load("DeBridgeRouter")
	CallTarget          = load("CallTarget")
	MultiCaller         = load("MultiCaller")
	Multicall3          = load("Multicall3")
)

// Tokens, and the contracts that swap them.
var (
	Token           = load("Token")
	TaxedToken      = load("TaxedToken")
	SilentToken     = load("SilentToken")
	BytesToken      = load("BytesToken")
	MuteToken       = load("MuteToken")
	WrappedCoin     = load("WrappedCoin")
	Pool            = load("Pool")
	PoolFactory     = load("PoolFactory")
	PoolRouter      = load("PoolRouter")
	FeePoolQuoter   = load("FeePoolQuoter")
	FeePoolRouter   = load("FeePoolRouter")
	RoutePoolRouter = load("RoutePoolRouter")
	RangePool       = load("RangePool")
	RangePoolRouter = load("RangePoolRouter")
	SpenderVenue    = load("SpenderVenue")
	VenueRouter     = load("VenueRouter")
	TokenApproval   = load("TokenApproval")
	PriceOracle     = load("PriceOracle")
	SettlerRegistry = load("SettlerRegistry")

	SmartExchangeRouter = load("SmartExchangeRouter")
)

// Stand-ins, for tests, of other contracts in recorded transactions.
var (
	DenyingToken  = load("DenyingToken")
	IdleToken     = load("IdleToken")
	StandInVenue  = load("StandInVenue")
	CallingWallet = load("CallingWallet")
	StandInTarget = load("StandInTarget")
)

// load reads an embedded artifact. A broken one is a mistake of the build, not of the caller.
func load(name string) *Contract {
	data, err := artifacts.ReadFile("artifacts/" + name + ".json")
	if err != nil {
		panic(fmt.Sprintf("contract %s has no artifact: run make contracts: %v", name, err))
	}
	var artifact struct {
		ABI        abi.ABI             `json:"abi"`
		Runtime    hexutil.Bytes       `json:"runtime"`
		Storage    map[string]variable `json:"storage"`
		SourceHash string              `json:"sourceHash"`
	}
	if err := json.Unmarshal(data, &artifact); err != nil {
		panic(fmt.Sprintf("artifact of contract %s: %v", name, err))
	}
	return &Contract{
		Name: name, ABI: artifact.ABI, Runtime: artifact.Runtime,
		storage: artifact.Storage, sourceHash: artifact.SourceHash,
	}
}

// Pack encodes a call of method. It panics on arguments that do not fit, a mistake in the caller's source.
func (c *Contract) Pack(method string, args ...any) []byte {
	data, err := c.ABI.Pack(method, args...)
	if err != nil {
		panic(fmt.Sprintf("call of %s.%s: %v", c.Name, method, err))
	}
	return data
}

// Topic returns topic 0 of the event. The second overload of an event has a 0 appended to its name.
func (c *Contract) Topic(event string) common.Hash {
	described, ok := c.ABI.Events[event]
	if !ok {
		panic(fmt.Sprintf("contract %s has no event %s", c.Name, event))
	}
	return described.ID
}
