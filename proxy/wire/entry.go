package wire

import (
	"bytes"
	"fmt"
	"strconv"

	"crossgate/order"
)

// AppendEntry appends an entry of the feed.
func (e Encoder) AppendEntry(dst []byte, of order.LogEntry) []byte {
	return e.object(dst, func(w *writer) {
		give, take := w.chains.Family(of.Give.Chain), w.chains.Family(of.Take.Chain)
		w.name("id").plain(strconv.FormatUint(of.Position, 10))
		w.name("status").plain(of.Step.String())
		w.name("isFinal").bool(of.IsFinal || of.Step == order.Final)
		w.name("event").plain(of.Kind)
		w.name("orderId").plain(of.Order.String())
		w.name("stateBefore").plain(of.Before.String())
		w.name("state").plain(of.After.String())
		w.name("give").entryOffer(of.Give)
		w.name("take").entryOffer(of.Take)
		w.name("maker").addressText(of.Maker, give)
		w.name("receiver").addressText(of.Receiver, take)
		w.name("taker").addressText(of.Fulfiller, take)
		w.name("unlockAuthority").addressText(of.UnlockAuthority, take)
		orNull(w.name("referralCode"), of.ReferralCode, func(code uint32) { w.uint(uint64(code)) })
		w.name("basis").open('{')
		family := w.chains.Family(of.At.Chain)
		w.name("chainId").uint(uint64(of.At.Chain))
		w.name("blockNumber").uint(of.At.Block)
		w.name("blockHash").plain(of.At.BlockHash.Format(family))
		w.name("blockTimestamp").uint(of.At.Time)
		w.name("transactionHash").plain(of.At.Tx.Format(family))
		w.name("logIndex").uint(uint64(of.At.LogIndex))
		w.close('}')
	})
}

// Entries returns a part of the feed, whose entries are already encoded, and the cursor after it.
func Entries(entries [][]byte, next uint64) []byte {
	return fmt.Appendf(nil, `{"events":[%s],"next":"%d"}`, bytes.Join(entries, []byte(",")), next)
}

// entryOffer writes one side of an order, null while its terms are unknown.
func (w *writer) entryOffer(o order.Offer) {
	if o.Chain == 0 {
		w.null()
		return
	}
	w.open('{')
	w.name("chainId").uint(uint64(o.Chain))
	w.name("tokenAddress").addressText(o.Token, w.chains.Family(o.Chain))
	w.name("amount").plain(o.Amount.String())
	w.close('}')
}
