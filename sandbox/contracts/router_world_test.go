package contracts

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"crossgate/internal/must"
)

// tokenAt returns the sandbox's contract that replaces a token of the recording.
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

// slotOf returns the slot of a mapping's element.
func slotOf(c *Contract, name string, keys ...any) common.Hash {
	for slot := range c.NewState().Set(name, common.MaxHash, keys...).Slots() {
		return slot
	}
	return common.Hash{}
}

// layOut places the sandbox's contracts in the state that the real ones had.
func layOut(t *testing.T, recording *routerRecording, chainIndex int, v routerVector) *state.StateDB {
	t.Helper()
	db := must.Get(state.New(types.EmptyRootHash, state.NewDatabaseForTesting()))(t)
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
		Set("owner", c.Accounts.Deployer).
		Set("feeTreasury", v.State.FeeTreasury).
		Set("swapVariableFeeBps", v.State.SwapVariableFeeBps).
		Set("dlnDestination", c.Accounts.DlnDestination).
		Set("supportedRouters", listing, v.State.SwapRouter.Address)
	wrapped := c.Contracts.Tokens["WETH"].Address
	layPools(t, states, c.Contracts.UniswapV2Router02, wrapped, v)
	if v.State.V3 != nil {
		layRangePool(t, states, c.Contracts.UniswapV3SwapRouter02, wrapped, v)
	}
	states[c.Contracts.VenueWithSeparateSpender] = SpenderVenue.NewState().
		Set("approval", c.Contracts.SeparateSpender).Set("router", c.Contracts.UniswapV2Router02)
	states[c.Contracts.SeparateSpender] = TokenApproval.NewState().Set("router", c.Contracts.VenueWithSeparateSpender)
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

// plenty is the token balance of the recording's accounts.
const plenty = "10000000000000000000000000000"

// layRangePool places Uniswap V3's pool for the swap's tokens behind a router.
func layRangePool(t *testing.T, states map[common.Address]*State, router, wrapped common.Address, v routerVector) {
	t.Helper()
	held := v.State.V3
	token0, token1 := v.Call.Args.TokenIn, v.Call.Args.SwapDetails.TokenOut
	for _, token := range []*common.Address{&token0, &token1} {
		if *token == (common.Address{}) {
			*token = wrapped
		}
	}
	if token0.Cmp(token1) > 0 {
		token0, token1 = token1, token0
	}
	states[held.Pool] = RangePool.NewState().Set("token0", token0).Set("token1", token1).Set("fee", held.Fee).
		Set("sqrtPriceX96", bigOf(t, held.SqrtPriceX96)).Set("liquidity", bigOf(t, held.Liquidity))
	states[token0].Set("balanceOf", bigOf(t, plenty), held.Pool)
	states[token1].Set("balanceOf", bigOf(t, plenty), held.Pool)
	factory := common.BytesToAddress([]byte("the range pools' factory"))
	states[factory] = PoolFactory.NewState().
		Set("getPool", held.Pool, token0, token1, held.Fee).Set("getPool", held.Pool, token1, token0, held.Fee)
	states[router] = RangePoolRouter.NewState().Set("WETH9", wrapped).Set("factory", factory)
}

func layBalances(t *testing.T, db *state.StateDB, states map[common.Address]*State, v routerVector) {
	t.Helper()
	sender, router := v.Tx.From, v.Tx.To
	db.AddBalance(sender, uint256.MustFromDecimal("1000000000000000000000"), tracing.BalanceChangeUnspecified)
	for _, s := range states {
		if _, isToken := s.contract.storage["balanceOf"]; isToken {
			s.Set("balanceOf", bigOf(t, plenty), sender).Set("totalSupply", bigOf(t, plenty))
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
