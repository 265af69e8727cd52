package wire

import (
	"time"

	"crossgate/quote"
)

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
