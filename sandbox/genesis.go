package sandbox

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"

	"crossgate/chain"
	"crossgate/sandbox/contracts"
)

// The protocol's parameters as on the real chains: a fee of four basis points, and batches of fifty orders, or seven
// for Solana.
const (
	transferFeeBps           = 4
	maxOrdersInBatch         = 50
	maxOrdersInBatchToSolana = 7

	engineEVM    = 1
	engineSolana = 2
)

// fixedFees is what an order costs its maker in the coin of the give chain: docs.debridge.com, fees and supported
// chains.
var fixedFees = map[chain.ID]string{1: "0.001", 137: "0.5", 8453: "0.001", 100000014: "1", chain.Tron: "4"}

// solanaDestination is Solana's DlnDestination as EVM contracts know it: the program's address
// ["AUTHORIZED_DST_NATIVE_SENDER"].
var solanaDestination = common.FromHex("0xa192b7f8b3eddc1e930a8e141564bb0ddc9d23f607cf13fd3a9fc15a638ed033")

// gasPriceOracle is where the OP stack quotes the cost of publishing a transaction. The sandbox's code returns zero:
// PUSH1 32, PUSH1 0, RETURN.
var (
	gasPriceOracle = common.HexToAddress("0x420000000000000000000000000000000000000F")
	zeroCode       = []byte{0x60, 32, 0x60, 0, 0xf3}
)

// allocation builds a genesis: contracts at their real addresses, in the state in which a running chain would have
// them.
type allocation struct {
	accounts types.GenesisAlloc
	chain    *Chain
	cast     cast
}

// genesis returns the chain's first block. Its time is long past, so that the history can begin at any time.
func (c *Chain) genesis(people cast) *core.Genesis {
	a := &allocation{accounts: core.SystemContractAllocs(), chain: c, cast: people}
	for _, account := range people.all() {
		a.accounts[account.Address] = types.Account{Balance: c.coin().units("10000")}
	}
	a.placeProtocol()
	a.placeTokens()
	a.placeMarkets()
	if c.hasPublicRouter() {
		a.placeRouter()
	}
	a.place(c.multicall(), contracts.Multicall3.NewState())
	a.place(multiCaller, contracts.MultiCaller.NewState())
	a.place(callTarget, contracts.CallTarget.NewState())
	if c.Facts.ID == base {
		a.accounts[gasPriceOracle] = types.Account{Code: zeroCode, Balance: new(big.Int), Nonce: 1}
	}
	return &core.Genesis{
		Config:     protocol(c.Facts.Native),
		Timestamp:  1_700_000_000,
		GasLimit:   blockGasLimit,
		BaseFee:    big.NewInt(c.spec.baseFee),
		Difficulty: new(big.Int),
		Alloc:      a.accounts,
	}
}

// place puts a contract and its state at an address, with nonce 1, as contracts have it since EIP-161.
func (a *allocation) place(at common.Address, state *contracts.State) {
	a.accounts[at] = types.Account{
		Code: state.Contract().Runtime, Storage: state.Slots(), Balance: new(big.Int), Nonce: 1,
	}
}

func (a *allocation) placeProtocol() {
	c := a.chain
	var subscription uint64
	if uint64(c.Facts.ID) != c.Facts.Native {
		subscription = uint64(c.Facts.ID)
	}
	source := contracts.DlnSource.NewState().
		Set("owner", a.cast.owner.Address).
		Set("deBridgeGate", c.gate()).
		Set("subscriptionId", subscription).
		Set("globalFixedNativeFee", c.coin().units(fixedFees[c.Facts.ID])).
		Set("globalTransferFeeBps", uint64(transferFeeBps)).
		Set("legacyEvents", startsLegacy(c))
	destination := contracts.DlnDestination.NewState().
		Set("owner", a.cast.owner.Address).
		Set("deBridgeGate", c.gate()).
		Set("externalCallAdapter", externalCallAdapter).
		Set("subscriptionId", subscription).
		Set("maxOrderCountPerBatchEvmUnlock", uint64(maxOrdersInBatch)).
		Set("maxOrderCountPerBatchSolanaUnlock", uint64(maxOrdersInBatchToSolana)).
		Set("legacyEvents", startsLegacy(c))
	for _, other := range chain.Documented().All() {
		sourceThere, destinationThere, engine := peers(other)
		if other.ID == c.Facts.ID || len(destinationThere) == 0 {
			continue
		}
		id := uint64(other.ID)
		source.Set("dlnDestinationAddresses", destinationThere, id).Set("chainEngines", engine, id)
		destination.Set("dlnSourceAddresses", sourceThere, id).Set("chainEngines", engine, id)
	}
	a.place(c.dlnSource(), source)
	a.place(c.dlnDestination(), destination)
	a.place(c.gate(), contracts.DeBridgeGate.NewState().Set("subscriptionId", subscription))
	a.place(externalCallAdapter, contracts.ExternalCallAdapter.NewState().
		Set("dlnDestination", c.dlnDestination()).
		Set("legacyEvents", c.Facts.ID == polygon))
}

// peers returns the protocol's two contracts on another chain as messages identify them.
func peers(other chain.Chain) (source, destination []byte, engine uint64) {
	if other.Family == chain.SVM {
		return other.Contracts.DlnSource.Bytes(), solanaDestination, engineSolana
	}
	return other.Contracts.DlnSource.Bytes(), other.Contracts.DlnDestination.Bytes(), engineEVM
}

// purse is the amount of every token that each account has at genesis, in whole tokens.
var purse = map[string]string{
	usdc: "5000000", wbtc: "100", dai: "5000000", mkr: "10000", mute: "1000000000000", usdt: "5000000",
}

const wrappedInPurse = "5000"

func (a *allocation) placeTokens() {
	for i, token := range a.chain.Tokens {
		state := token.contract.NewState()
		if token.contract == contracts.BytesToken {
			state.Set("name", bytes32(token.Name)).Set("symbol", bytes32(token.Symbol))
		} else {
			state.Set("name", token.Name).Set("symbol", token.Symbol)
		}
		if token.hasDecimals() {
			state.Set("decimals", uint64(token.Decimals))
		}
		if token.Symbol == usdc {
			state.Set("version", "2") // as in Circle's contracts
		}
		amount := wrappedInPurse
		if i > 0 {
			amount = purse[token.Symbol]
		}
		supply := a.fillPurses(state, token.units(amount))
		supply.Add(supply, a.fillPools(state, token))
		state.Set("totalSupply", supply)
		a.place(token.Address, state)
		if token.contract == contracts.WrappedCoin {
			a.accounts[token.Address].Balance.Set(supply)
		}
	}
}

// fillPurses gives every account the amount, and approves the protocol to spend it for those with a part in the
// history. Users approve it themselves.
func (a *allocation) fillPurses(state *contracts.State, amount *big.Int) *big.Int {
	c := a.chain
	supply := new(big.Int)
	for _, account := range a.cast.all() {
		state.Set("balanceOf", amount, account.Address)
		supply.Add(supply, amount)
	}
	unlimited := new(big.Int).Sub(new(big.Int).Lsh(common.Big1, 256), common.Big1)
	for _, maker := range a.cast.makers {
		state.Set("allowance", unlimited, maker.Address, c.dlnSource())
		state.Set("allowance", unlimited, maker.Address, multiCaller)
		state.Set("allowance", unlimited, maker.Address, c.router())
	}
	for _, taker := range append(a.cast.takers[:takerCount:takerCount], a.cast.courier) {
		state.Set("allowance", unlimited, taker.Address, c.dlnDestination())
		state.Set("allowance", unlimited, taker.Address, multiCaller)
	}
	state.Set("allowance", unlimited, multiCaller, c.dlnSource())
	state.Set("allowance", unlimited, multiCaller, c.dlnDestination())
	return supply
}

func (a *allocation) fillPools(state *contracts.State, token Token) *big.Int {
	supply := new(big.Int)
	for _, pool := range a.chain.Pools {
		for i, side := range []Token{pool.Token0, pool.Token1} {
			if side.Address == token.Address {
				state.Set("balanceOf", pool.reserves[i], pool.Address)
				supply.Add(supply, pool.reserves[i])
			}
		}
	}
	return supply
}

// bytes32 encodes a short text left-aligned, as Solidity stores it.
func bytes32(text string) common.Hash {
	var word common.Hash
	copy(word[:], text)
	return word
}
