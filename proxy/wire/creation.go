package wire

import (
	"strconv"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/creation"
	"crossgate/quote"
	"crossgate/quote/crosschain"
	"crossgate/token"
)

// AppendOrderQuote appends an estimate of an order without a transaction: tx has only what to approve.
func (e Encoder) AppendOrderQuote(dst []byte, c crosschain.Estimate) []byte {
	return e.object(dst, func(w *writer) {
		w.orderEstimation(c)
		w.name("tx").open('{')
		if c.GiveChain.Family != chain.SVM { // Solana senders sign for each transfer
			target := c.GiveChain.Contracts.DlnSource
			if c.SwapsBefore() {
				target = c.GiveChain.Contracts.Router
			}
			w.allowance(c, target)
		}
		w.close('}')
		w.orderFees(c)
	})
}

// AppendOrderEstimation appends an estimate of an order whose parties are unknown.
func (e Encoder) AppendOrderEstimation(dst []byte, c crosschain.Estimate) []byte {
	return e.object(dst, func(w *writer) {
		w.orderEstimation(c)
		w.orderFees(c)
	})
}

// AppendOrderCreation appends an order with its transaction, with the gas limit if hasGas. Undocumented are the taker's
// margin, the sender's lacks, warnings, the part that was not simulated, and the bundle.
func (e Encoder) AppendOrderCreation(dst []byte, c crosschain.Estimate, hasGas bool) []byte {
	return e.object(dst, func(w *writer) {
		w.orderEstimation(c)
		w.name("tx").open('{')
		if !c.Made.To.IsAbsent() { // on Solana the message is all of it
			w.name("value").decimal(c.Made.Value)
		}
		w.name("data").hex(c.Made.Data)
		if to := c.Made.To; !to.IsAbsent() {
			w.name("to").plain(to.Checksum())
			w.allowance(c, to)
		}
		if hasGas && c.Made.Fee != nil {
			w.name("gasLimit").uint(c.Made.Fee.GasLimit)
		}
		w.close('}')
		w.orderFees(c)
		if len(c.Made.Short) > 0 {
			objects(w.name("senderLacks"), c.Made.Short, func(s crosschain.Short) {
				w.name("token").plain(s.Token.Format(c.GiveChain.Family))
				w.name("amount").decimal(s.Missing)
			})
		}
		if len(c.Made.Warnings) > 0 {
			w.warnings(c.Made.Warnings)
		}
		if c.Made.IsUnapproved {
			w.name("notSimulated").plain("allowance")
		}
		if len(c.Made.Calls) > 0 {
			w.name("walletSendCalls").bundle(c)
		}
	})
}

func (w *writer) allowance(c crosschain.Estimate, target chain.Address) {
	w.name("allowanceTarget").plain(target.Checksum())
	w.name("allowanceValue").decimal(c.Course.In)
}

// orderEstimation writes the amounts from the input to the take token.
func (w *writer) orderEstimation(c crosschain.Estimate) {
	usd := func(on chain.ID, address chain.Address, t token.Token, amount chain.Amount) *float64 {
		return quote.USD(c.Prices[token.Key{Chain: on, Address: address}], amount, t.Decimals)
	}
	usdIn := func(amount chain.Amount) *float64 { return usd(c.GiveChain.ID, c.TokenIn, c.InToken, amount) }
	usdOut := func(amount chain.Amount) *float64 { return usd(c.TakeChain.ID, c.TokenOut, c.OutToken, amount) }
	w.name("estimation").open('{')
	w.name("srcChainTokenIn").open('{')
	w.orderToken(c.GiveChain, c.TokenIn, c.InToken)
	w.name("amount").decimal(c.Course.In)
	w.name("approximateOperatingExpense").decimal(c.OperatingExpense)
	w.name("mutatedWithOperatingExpense").bool(!c.Prepended.IsZero())
	w.usdNamed("approximateUsdValue", usdIn(c.Course.In))
	w.usdNamed("originApproximateUsdValue", usdIn(c.Course.In.Sub(c.Prepended)))
	w.close('}')
	if c.SwapsBefore() {
		w.name("srcChainTokenOut").open('{')
		w.orderToken(c.GiveChain, c.Route.Give.Address, c.GiveToken)
		w.name("amount").decimal(c.Gross)
		w.name("maxRefundAmount").decimal(c.Before.Out.Sub(c.Gross))
		w.usdNamed("approximateUsdValue", quote.USD(c.Prices[c.Route.Give], c.Gross, c.GiveToken.Decimals))
		w.close('}')
	}
	w.name("dstChainTokenOut").open('{')
	w.orderToken(c.TakeChain, c.TokenOut, c.OutToken)
	w.name("amount").decimal(c.Amount)
	w.name("recommendedAmount").decimal(c.Recommended)
	w.name("withoutAdditionalTakerRewardsAmount").decimal(c.WithoutReward())
	w.name("maxTheoreticalAmount").decimal(c.MaxTheoretical)
	w.usdNamed("approximateUsdValue", usdOut(c.Amount))
	w.usdNamed("recommendedApproximateUsdValue", usdOut(c.Recommended))
	w.usdNamed("withoutAdditionalTakerRewardsApproximateUsdValue", usdOut(c.WithoutReward()))
	w.usdNamed("maxTheoreticalApproximateUsdValue", usdOut(c.MaxTheoretical))
	w.close('}')
	objects(w.name("costsDetails"), c.Costs(c.Route), func(cost crosschain.Cost) { w.orderCost(c, cost) })
	w.name("recommendedSlippage").number(c.SlippagePercent())
	w.close('}')
}

func (w *writer) orderToken(on chain.Chain, address chain.Address, t token.Token) {
	w.name("address").plain(address.Format(on.Family))
	w.name("chainId").uint(uint64(on.ID))
	w.name("decimals").uint(uint64(t.Decimals))
	w.name("name").text(t.Name)
	w.name("symbol").text(t.Symbol)
}

// usdNamed writes a USD value as a member, which is omitted, not 0, if the value is unknown.
func (w *writer) usdNamed(name string, value *float64) {
	if value != nil {
		w.name(name).usd(*value)
	}
}

func (w *writer) orderCost(c crosschain.Estimate, cost crosschain.Cost) {
	family := w.chains.Family(cost.Chain)
	w.name("chain").plain(cost.Chain.String())
	w.name("tokenIn").plain(cost.TokenIn.Format(family))
	w.name("tokenOut").plain(cost.TokenOut.Format(family))
	w.name("amountIn").decimal(cost.AmountIn)
	w.name("amountOut").decimal(cost.AmountOut)
	w.name("type").plain(cost.Type)
	switch cost.Type {
	case crosschain.PreSwap:
		return
	case crosschain.AfterSwap:
		w.name("payload").open('{')
		w.name("amountOutBeforeCorrection").decimal(cost.AmountOut)
		w.close('}')
		return
	}
	w.name("payload").open('{')
	w.name("feeAmount").decimal(cost.Fee)
	if cost.FeeBps != "" {
		w.name("feeBps").plain(cost.FeeBps)
	}
	switch cost.Type {
	case crosschain.PreSwapSlippage, crosschain.AfterSwapSlippage:
		w.name("estimatedVolatilityBps").plain(cost.FeeBps)
	case crosschain.ProtocolFee:
		if value := protocolFeeUSD(c); value != nil {
			w.name("feeApproximateUsdValue").usdText(*value)
		}
	}
	w.close('}')
}

func protocolFeeUSD(c crosschain.Estimate) *float64 {
	return quote.USD(c.Prices[c.Route.Give], c.ProtocolFee, c.GiveToken.Decimals)
}

// orderFees writes the members after the transaction. Points belong to the hosted service; here they are 0.
func (w *writer) orderFees(c crosschain.Estimate) {
	if !c.Prepended.IsZero() {
		w.name("prependedOperatingExpenseCost").decimal(c.Prepended)
	}
	w.name("order").open('{')
	w.name("approximateFulfillmentDelay").uint(c.Delay())
	if c.Made != nil {
		w.name("salt").uint(c.Made.Salt)
		w.name("metadata").hex(c.Made.Metadata)
	}
	w.close('}')
	if c.Made != nil {
		w.name("orderId").hex(c.Made.ID[:])
	}
	w.name("fixFee").decimal(c.Charges.Fixed)
	w.name("protocolFee").decimal(c.ProtocolFee)
	w.usdNamed("protocolFeeApproximateUsdValue", protocolFeeUSD(c))
	if c.Made != nil && c.Made.Fee != nil {
		w.name("estimatedTransactionFee").transactionFee(*c.Made.Fee, c.GiveChain.Family)
	}
	if impact, known := c.PriceImpact(); known {
		w.name("usdPriceImpact").number(impact)
	}
	for _, points := range []string{"userPoints", "integratorPoints", "actualUserPoints", "actualIntegratorPoints"} {
		w.name(points).uint(0)
	}
	w.takerMargin(c)
}

func (w *writer) takerMargin(c crosschain.Estimate) {
	left, bps := c.TakerMargin()
	w.name("takerMargin").open('{')
	w.name("amount").plain(left.String())
	w.name("bps").number(bps)
	w.close('}')
}

// bundle writes the parameter of wallet_sendCalls: the calls of the wallet, executed atomically.
func (w *writer) bundle(c crosschain.Estimate) {
	w.open('{')
	w.name("version").plain("2.0.0")
	w.name("chainId").plain("0x" + strconv.FormatUint(c.GiveChain.Native, 16))
	w.name("from").plain(c.Made.Terms.Maker.Checksum())
	w.name("atomicRequired").bool(true)
	objects(w.name("calls"), c.Made.Calls, func(each quote.Tx) {
		w.name("to").plain(each.To.Checksum())
		w.name("data").hex(each.Data)
		w.name("value").plain(each.Value.Hex())
	})
	w.close('}')
}

// AppendOrderExplanation appends how an order's amounts came about. The hosted service has no equivalent. failed is why
// the order is missing, or nil; fills are those of earlier orders with its margin, nil if unknown.
func (e Encoder) AppendOrderExplanation(dst []byte, c crosschain.Estimate, fills *order.Fills, failed error) []byte {
	return e.object(dst, func(w *writer) {
		if failed != nil {
			w.name("error").text(failed.Error())
		} else {
			w.explained(c, fills)
		}
		objects(w.name("otherRoutes"), c.Passed, func(p crosschain.Passed) {
			w.reserves(p.Route)
			if p.Err != nil {
				w.name("reason").text(p.Err.Error())
				return
			}
			w.name("recommendedAmount").decimal(p.Recommended)
		})
	})
}

func (w *writer) reserves(r crosschain.Route) {
	w.name("srcReserve").plain(r.Give.Address.Format(w.chains.Family(r.Give.Chain)))
	w.name("dstReserve").plain(r.Take.Address.Format(w.chains.Family(r.Take.Chain)))
}

func (w *writer) explained(c crosschain.Estimate, fills *order.Fills) {
	w.reserves(c.Route)
	w.name("amount").decimal(c.Amount)
	w.name("recommendedAmount").decimal(c.Recommended)
	objects(w.name("costsDetails"), c.Costs(c.Route), func(cost crosschain.Cost) { w.orderCost(c, cost) })
	objects(w.name("takerCosts"), c.TakerCosts, func(cost crosschain.Expense) {
		w.name("type").plain(cost.Name)
		w.name("chain").plain(cost.Chain.String())
		w.name("amount").decimal(cost.Coin)
		w.name("usd")
		w.json = append(w.json, cost.USD.FloatString(6)...)
	})
	w.takerMargin(c)
	if fills != nil {
		w.name("earlierFills").object(func() { w.fills(*fills) })
	}
	for _, leg := range []struct {
		name string
		leg  *crosschain.Leg
	}{{"preSwap", c.Pre}, {"afterSwap", c.Post}} {
		if leg.leg == nil {
			continue
		}
		w.name(leg.name).open('{')
		if leg.leg.DropBps >= 0 {
			w.name("priceDropBps").uint(uint64(leg.leg.DropBps))
		}
		w.name("slippageBps").uint(uint64(leg.leg.SlippageBps))
		objects(w.name("aggregators"), leg.leg.Estimates.Asked, w.asked)
		w.close('}')
	}
}

// Settlement is a transaction that cancels an order or its external call, or pays for deliveries.
type Settlement struct {
	creation.Transaction
	Chain       chain.ID
	Beneficiary chain.Address // who is paid
	PaidOn      chain.ID
}

// AppendSettlement appends CancelTxResponsePayload, with the beneficiary in the member paid.
func (e Encoder) AppendSettlement(dst []byte, s Settlement, paid string) []byte {
	family := e.Chains.Family(s.Chain)
	return e.object(dst, func(w *writer) {
		w.name("to").unless(s.To.IsAbsent(), func() { w.plain(s.To.Checksum()) }) // in hex on TRON, as in create-tx
		w.name("data").hex(s.Data)
		w.name("value").decimal(s.Value)
		w.name("chainId").uint(uint64(s.Chain))
		w.name("from").addressText(s.Sender, family)
		w.name(paid).addressText(s.Beneficiary, w.chains.Family(s.PaidOn))
	})
}
