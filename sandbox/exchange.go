package sandbox

import (
	"strconv"

	"github.com/ethereum/go-ethereum/common"

	"crossgate/chain"
	"crossgate/sandbox/contracts"
	"crossgate/sandbox/venues"
)

// exchange holds the addresses of exchanges' contracts on the real chain: Uniswap/contracts deployments, sushi 7.3.15,
// oku-chains 1.12.36 and @bgd-labs/aave-address-book 4.44.22. Empty if the chain has no such contract.
type exchange struct {
	pairFactory                      string // of the pool router's pairs
	feeFactory, feeQuoter, feeRouter string // Uniswap V3
	routeFactory, routeRouter        string // Aerodrome
	oracle                           string // of prices: Aave V3
}

var exchanges = map[chain.ID]exchange{
	1: {
		pairFactory: "0x5C69bEe701ef814a2B6a3EDD4B1652CB9cc5aA6f",
		feeFactory:  "0x1F98431c8aD98523631AE4a59f267346ea31F984",
		feeQuoter:   "0x61fFE014bA17989E743c5F6cB21bF9697530B21e",
		feeRouter:   "0x68b3465833fb72A70ecDF485E0e4C7bD8665Fc45",
		oracle:      "0x54586bE62E3c3580375aE3723C145253060Ca0C2",
	},
	137: {
		pairFactory: "0x9e5A52f57b3038F1B8EeE45F28b3C1967e22799C",
		feeFactory:  "0x1F98431c8aD98523631AE4a59f267346ea31F984",
		feeQuoter:   "0x61fFE014bA17989E743c5F6cB21bF9697530B21e",
		feeRouter:   "0x68b3465833fb72A70ecDF485E0e4C7bD8665Fc45",
	},
	8453: {
		pairFactory:  "0x8909Dc15e40173Ff4699343b6eB8132c65e18eC6",
		feeFactory:   "0x33128a8fC17869897dcE68Ed026d694621f6FDfD",
		feeQuoter:    "0x3d4e44Eb1374240CE5F1B871ab261CD16335B76a",
		feeRouter:    "0x2626664c2603336E57B271c5C0b26F421741e481",
		routeFactory: "0x420DD381b31aEf6683db6B902084cB0FFECe40Da",
		routeRouter:  "0xcF77a3Ba9A5CA399B7c97c74d54e5b1Beb874E43",
	},
	100000014: {pairFactory: "0xB45e53277a7e0F1D35f2a77160e91e25507f1763"},
}

// Exchanges returns the names of venues that are read from the world's chains, without an HTTP service.
func (w *World) Exchanges() []string {
	return []string{"aerodrome", "sushiswap-v2", "uniswap-v2", "uniswap-v3", "wrap"}
}

// oracleDecimals is the number of decimals of the oracle's USD prices.
const oracleDecimals = 8

// hundredthsPerBps converts a pool's fee from basis points to Uniswap V3's unit, hundredths of a basis point.
const hundredthsPerBps = 100

// placeMarkets places the pools, the exchanges that list them, and the venues' contracts.
func (a *allocation) placeMarkets() {
	c := a.chain
	factory := contracts.PoolFactory
	pairs, fees, routes := factory.NewState(), factory.NewState(), factory.NewState()
	for _, pool := range c.Pools {
		a.place(pool.Address, contracts.Pool.NewState().
			Set("token0", pool.Token0.Address).Set("token1", pool.Token1.Address).Set("feeBps", pool.FeeBps).
			Set("reserve0", pool.reserves[0]).Set("reserve1", pool.reserves[1]))
		one, other := pool.Token0.Address, pool.Token1.Address
		fee := pool.FeeBps * hundredthsPerBps
		fees.Set("getPool", pool.Address, one, other, fee).Set("getPool", pool.Address, other, one, fee)
		of := pairs
		if pool.FeeBps != tiers[0].feeBps {
			of = routes
		}
		of.Set("getPair", pool.Address, one, other).Set("getPair", pool.Address, other, one)
	}
	a.placeExchanges(pairs, fees, routes)
	for _, name := range venues.Serving(a.chain.Facts.Native) {
		a.placeVenue(name, pairs, fees)
	}
}

// placeExchanges places Uniswap V2 over the high-fee pools, V3 over all pools, and Aerodrome over the low-fee ones.
func (a *allocation) placeExchanges(pairs, fees, routes *contracts.State) {
	at, wrapped := exchanges[a.chain.Facts.ID], a.chain.Tokens[0].Address
	put := func(address string, state *contracts.State) {
		if address != "" {
			a.place(common.HexToAddress(address), state)
		}
	}
	put(at.pairFactory, pairs)
	put(a.chain.spec.poolRouter, contracts.PoolRouter.NewState().
		Set("WETH", wrapped).Set("factory", common.HexToAddress(at.pairFactory)))
	put(at.feeFactory, fees)
	put(at.feeQuoter, contracts.FeePoolQuoter.NewState().
		Set("WETH9", wrapped).Set("factory", common.HexToAddress(at.feeFactory)))
	put(at.feeRouter, contracts.FeePoolRouter.NewState().
		Set("WETH9", wrapped).Set("factory", common.HexToAddress(at.feeFactory)))
	prices := contracts.PriceOracle.NewState()
	for _, token := range a.chain.Tokens {
		prices.Set("prices", units(strconv.FormatFloat(token.USD, 'f', -1, 64), oracleDecimals), token.Address)
	}
	put(at.oracle, prices)
	put(at.routeFactory, routes)
	put(at.routeRouter, contracts.RoutePoolRouter.NewState().
		Set("weth", wrapped).Set("defaultFactory", common.HexToAddress(at.routeFactory)))
}

// placeVenue places a venue's contracts and the holder of its allowances. All venues share one contract, except SUN.io,
// whose calls the gateway encodes itself: it lists high-fee pools as version 2 and the others as version 3.
func (a *allocation) placeVenue(name string, pairs, fees *contracts.State) {
	native, wrapped := a.chain.Facts.Native, a.chain.Tokens[0].Address
	approval := common.HexToAddress(venues.Approval(name, native))
	for _, at := range venues.Routers(name, native) {
		router := common.HexToAddress(at)
		if name == venues.Sunio {
			pairFactory, poolFactory := madeAddress("SunSwap V2 factory"), madeAddress("SunSwap V3 factory")
			a.place(pairFactory, pairs)
			a.place(poolFactory, fees)
			a.place(router, contracts.SmartExchangeRouter.NewState().
				Set("WTRX", wrapped).Set("pairFactory", pairFactory).Set("poolFactory", poolFactory))
			continue
		}
		a.place(router, contracts.VenueRouter.NewState().
			Set("wrappedCoin", wrapped).Set("approval", approval))
		if name == "0x" {
			a.place(venues.ZeroExSettler, contracts.MultiCaller.NewState())
			a.place(venues.ZeroExRegistry, contracts.SettlerRegistry.NewState().Set("current", venues.ZeroExSettler))
		}
		if approval != (common.Address{}) {
			a.place(approval, contracts.TokenApproval.NewState().Set("router", router))
		}
	}
}
