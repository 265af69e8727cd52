package sandbox

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"crossgate/chain"
	"crossgate/sandbox/contracts"
	"crossgate/sandbox/venues"
)

// swapDetails is the argument tuple of the public router's swap.
type swapDetails struct {
	AllowanceAggregator  common.Address
	SwapRouter           common.Address
	SwapCalldata         []byte
	TokenOut             common.Address
	TokenOutMinAmount    *big.Int
	SurplusShareBps      uint16
	AffiliateFeeEnvelope []byte
	Recipient            common.Address
}

// controlSwap swaps the first maker's coin for USDC through the public router.
func (w *World) controlSwap(ctx context.Context, b struct {
	ChainID      chain.ID       `json:"chainId"`
	Amount       string         `json:"amount"`
	Recipient    common.Address `json:"recipient"`
	Affiliate    common.Address `json:"affiliate"`
	AffiliateBps uint16         `json:"affiliateBps"`
	ReferralCode uint32         `json:"referralCode"`
},
) (any, error) {
	coin, amount, err := w.wanted(b.ChainID, "", b.Amount)
	if err != nil {
		return nil, err
	}
	c, here := w.Chain(b.ChainID)
	if !here || !c.hasPublicRouter() {
		return nil, fmt.Errorf("%w: chain %s has no public router", errBadCall, b.ChainID)
	}
	out, sender := c.token(usdc), w.cast.makers[0]
	swap := venues.RouterOrder{
		TokenIn: coin.Address, TokenOut: out.Address, AmountIn: amount, MinAmountOut: common.Big1, Recipient: c.router(),
		Plan: venues.Plan{Pools: []common.Address{c.wrappedPool().Address}, Deadline: forever()},
	}
	var affiliate []byte
	if b.AffiliateBps > 0 {
		affiliate = slices.Concat(binary.BigEndian.AppendUint16(nil, b.AffiliateBps), b.Affiliate.Bytes())
	}
	const wholeSurplus = 10_000 // goes to the recipient
	data := contracts.DeBridgeRouter.Pack("swap", coin.Address, amount, []byte{}, swapDetails{
		SwapRouter: common.HexToAddress(venues.Routers("kyberswap", c.Facts.Native)[0]), SwapCalldata: swap.Calldata(),
		TokenOut: out.Address, TokenOutMinAmount: common.Big1, SurplusShareBps: wholeSurplus,
		AffiliateFeeEnvelope: affiliate, Recipient: b.Recipient,
	}, b.ReferralCode)
	receipts, err := c.execute(ctx, w.now(), call{sender, c.router(), amount, data})
	if err != nil {
		return nil, err
	}
	return object{
		"chainId": b.ChainID.String(), "transactionHash": receipts[0].TxHash.Hex(),
		"sender": strings.ToLower(sender.Address.Hex()), "tokenOut": strings.ToLower(out.Address.Hex()), "amountIn": amount.String(),
	}, nil
}
