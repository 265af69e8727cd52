package wire

import (
	"time"

	"crossgate/chain"
	"crossgate/quote"
)

// AppendSwap appends an estimate with its transaction, unless its signer is unknown: contracts with a checksum, tokens
// in lower case.
func (e Encoder) AppendSwap(dst []byte, s quote.Estimate) []byte {
	return e.object(dst, func(w *writer) {
		if len(s.Tx.Data) > 0 {
			w.name("tx").tx(s)
		}
		w.estimation(s)
	})
}

// AppendEstimation appends the estimate of a swap without a transaction.
func (e Encoder) AppendEstimation(dst []byte, s quote.Estimate) []byte {
	return e.object(dst, func(w *writer) {
		w.name("estimation").open('{')
		w.estimation(s)
		w.close('}')
	})
}

// estimation writes the members that estimates have in common, with or without a transaction.
func (w *writer) estimation(s quote.Estimate) {
	w.name("tokenIn").swapToken(s.In, s.Chain.Family, nil)
	w.name("tokenOut").swapToken(s.Out, s.Chain.Family, &s.MinOut)
	w.name("slippage").number(s.SlippagePercent)
	w.name("recommendedSlippage").number(s.RecommendedSlippage)
	objects(w.name("comparedAggregators"), s.Compared, w.compared)
	w.name("protocolFee").decimal(s.ProtocolFee)
	if s.ProtocolFeeUSD != nil {
		w.name("protocolFeeApproximateUsdValue").usdText(*s.ProtocolFeeUSD)
	}
	if s.Fee != nil {
		w.name("estimatedTransactionFee").transactionFee(*s.Fee, s.Chain.Family)
	}
	w.name("costsDetails").costs(s)
}

// tx writes the transaction, which on Solana is only its message, also in hex. If the sender's whole balance is
// swapped, the fee is added; on Solana the price of a compute unit is in micro-lamports.
func (w *writer) tx(s quote.Estimate) {
	w.open('{')
	if !s.Tx.To.IsAbsent() {
		w.name("to").plain(s.Tx.To.Checksum())
	}
	w.name("data").hex(s.Tx.Data)
	if !s.Tx.To.IsAbsent() {
		w.name("value").decimal(s.Tx.Value)
	}
	if s.MaxBalance && s.Fee != nil {
		w.name("gasLimit").decimal(chain.NewAmount(s.Fee.GasLimit))
		w.name("gasPrice").decimal(mostFor(s.Fee.Price, s.Chain.Family))
		w.name("estimatedTransactionFee").decimal(s.Fee.Total)
	}
	w.close('}')
}

// mostFor returns the maximum price of a unit of gas.
func mostFor(p quote.GasPrice, family chain.Family) chain.Amount {
	switch {
	case family == chain.SVM:
		return p.Bid
	case p.Legacy:
		return p.Expected
	}
	return p.MaxFee
}

// swapToken writes a side of the swap. least is the output that the transaction guarantees.
func (w *writer) swapToken(side quote.Priced, family chain.Family, least *chain.Amount) {
	w.open('{')
	w.name("address").plain(side.Address.Format(family))
	w.name("name").text(side.Token.Name)
	w.name("symbol").text(side.Token.Symbol)
	w.name("decimals").uint(uint64(side.Token.Decimals))
	if least != nil {
		w.name("minAmount").decimal(*least)
	}
	w.name("amount").decimal(side.Amount)
	w.usdNamed("approximateUsdValue", side.USD)
	w.close('}')
}

func (w *writer) compared(v quote.Compared) {
	w.name("name").text(v.Name)
	w.name("amount").decimal(v.Amount)
	w.usdNamed("approximateUsdValue", v.USD)
	w.name("priceDrop").number(v.PriceDrop)
	w.name("imageUrl").text(v.ImageURL)
}

// usdText writes a USD value as a string: the documented type of the protocol fee's value, although the hosted service
// was seen to send a number (docs/decisions/0005-wire.md).
func (w *writer) usdText(n float64) {
	w.json = append(w.json, '"')
	w.usd(n)
	w.json = append(w.json, '"')
}

// transactionFee writes the fee with the details that chains of a family have.
func (w *writer) transactionFee(f quote.Fee, family chain.Family) {
	w.open('{')
	w.name("total").decimal(f.Total)
	w.name("details").open('{')
	if family != chain.EVM {
		w.name("txFee").decimal(f.Beside)
	}
	switch {
	case family == chain.SVM:
		w.name("priorityFee").decimal(f.Priority)
	case f.Price.Legacy:
		w.name("gasLimit").decimal(chain.NewAmount(f.GasLimit))
		w.name("gasPrice").decimal(f.Price.Expected)
	default:
		w.name("gasLimit").decimal(chain.NewAmount(f.GasLimit))
		w.name("baseFee").decimal(f.Price.Base)
		w.name("maxFeePerGas").decimal(f.Price.MaxFee)
		w.name("maxPriorityFeePerGas").decimal(f.Price.MaxPriority)
	}
	w.close('}')
	w.usdNamed("approximateUsdValue", f.USD)
	w.close('}')
}

// costs writes the deductions from the gross to the guaranteed output, in the output token.
func (w *writer) costs(s quote.Estimate) {
	id, out := s.Chain.ID.String(), s.Out.Address.Format(s.Chain.Family)
	objects(w, s.Costs, func(cost quote.Cost) {
		w.name("chain").plain(id)
		w.name("tokenIn").plain(out)
		w.name("tokenOut").plain(out)
		w.name("amountIn").decimal(cost.AmountIn)
		w.name("amountOut").decimal(cost.AmountOut)
		w.name("type").plain(cost.Type)
		w.name("payload").open('{')
		w.name("feeAmount").decimal(cost.Fee)
		w.name("feeBps").plain(cost.FeeBps)
		w.close('}')
	})
}

// AppendExplanation appends the outcome of a swap request at every venue. The hosted service has no equivalent; names
// are those of its swap response where they fit. failed is why the transaction is missing, or nil.
func (e Encoder) AppendExplanation(dst []byte, s quote.Estimate, failed error) []byte {
	return e.object(dst, func(w *writer) {
		if failed != nil {
			w.name("error").text(failed.Error())
		} else {
			w.name("execution").plain(s.Way.String())
			w.name("to").plain(s.Tx.To.Checksum())
			w.name("amount").decimal(s.Out.Amount)
			w.name("minAmount").decimal(s.MinOut)
			w.name("protocolFee").decimal(s.ProtocolFee)
			list(w.name("unpriced"), unpriced(s), w.plain)
			w.name("quotedAt").plain(s.QuotedAt.UTC().Format(time.RFC3339Nano))
		}
		objects(w.name("aggregators"), s.Asked, w.asked)
	})
}

// unpriced returns the members of the response without a USD value, because no source prices the token.
func unpriced(s quote.Estimate) (members []string) {
	if s.In.USD == nil {
		members = append(members, "tokenIn")
	}
	if s.Out.USD == nil {
		members = append(members, "tokenOut")
	}
	if s.ProtocolFeeUSD == nil {
		members = append(members, "protocolFee")
	}
	if s.Fee != nil && s.Fee.USD == nil {
		members = append(members, "estimatedTransactionFee")
	}
	return members
}

var verdicts = map[quote.Verdict]string{
	quote.Won: "won", quote.Outbid: "outbid", quote.Refused: "refused", quote.Silent: "silent", quote.LeftOut: "leftOut",
}

func (w *writer) asked(one quote.Asked) {
	w.name("name").text(one.Venue)
	w.name("execution").plain(one.Way.String())
	w.name("verdict").plain(verdicts[one.Verdict])
	w.name("tookMs").number(float64(one.Took.Microseconds()) / 1000)
	if !one.AmountOut.IsZero() {
		w.name("quotedAmount").decimal(one.AmountOut)
		w.name("amount").decimal(one.Net)
		w.name("gas").uint(one.Gas)
		w.name("simulated").bool(one.Result != nil && one.Result.Measured)
	}
	if one.Err != nil {
		w.name("reason").text(one.Err.Error())
	}
}
