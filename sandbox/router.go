package sandbox

import (
	"github.com/ethereum/go-ethereum/common"

	"crossgate/sandbox/contracts"
	"crossgate/sandbox/venues"
)

// routerFeeBps is the share that the public router was recorded to keep of a same-chain swap (2026-09).
const routerFeeBps = 8

// routerTreasury collects the public router's fees.
var routerTreasury = madeAddress("router treasury")

// unlisted is a venue that the public router does not call on one chain, so that only the direct way leads to it.
var unlisted = struct {
	chain uint64
	venue string
}{146, "openocean"}

// placeRouter places the public router with its terms and the list of contracts that it may call.
func (a *allocation) placeRouter() {
	c := a.chain
	state := contracts.DeBridgeRouter.NewState().Set("supportedRouters", true, c.dlnSource()).
		Set("owner", a.cast.owner.Address).
		Set("feeTreasury", routerTreasury).
		Set("dlnDestination", c.dlnDestination()).
		Set("swapVariableFeeBps", uint64(routerFeeBps))
	state.Set("supportedRouters", true, c.dlnSource())
	for _, at := range c.callable() {
		if at != "" {
			state.Set("supportedRouters", true, common.HexToAddress(at))
		}
	}
	a.place(c.router(), state)
}

// callable returns the contracts that the public router may call, and those that hold allowances for them. An address
// is empty if the chain has no such contract.
func (c *Chain) callable() []string {
	at := exchanges[c.Facts.ID]
	callable := []string{c.spec.poolRouter, at.feeRouter, at.routeRouter}
	for _, name := range venues.Serving(c.Facts.Native) {
		if c.Facts.Native == unlisted.chain && name == unlisted.venue {
			continue
		}
		callable = append(callable, venues.Routers(name, c.Facts.Native)...)
		callable = append(callable, venues.Approval(name, c.Facts.Native))
	}
	return callable
}
