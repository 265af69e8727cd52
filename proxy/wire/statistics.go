package wire

import (
	"math/big"
	"strconv"

	"crossgate/order"
	"crossgate/quote"
)

const secondsOfDay = 86_400

// AppendDaily appends statistics by day and pair of chains, and their running totals.
func (e Encoder) AppendDaily(dst []byte, days, running []order.DailyStatistics) []byte {
	return e.object(dst, func(w *writer) {
		objects(w.name("dailyData"), days, w.dailyStatistics)
		objects(w.name("dailyDataCumulative"), running, w.dailyStatistics)
	})
}

func (w *writer) dailyStatistics(d order.DailyStatistics) {
	w.name("giveChainId").chainID(d.Give)
	w.name("takeChainId").chainID(d.Take)
	w.name("date").uint(d.Day * secondsOfDay)
	w.name("createdOrdersCount").uint(d.Created)
	w.name("fulfilledOrdersCount").uint(d.Fulfilled)
	w.name("totalAmountGivenUsd").sumUSD(d.Given, d.Created)
	w.name("totalAmountTakenUsd").sumUSD(d.Taken, d.Fulfilled)
	w.name("totalProtocolFeeUsd").sumUSD(d.Fee, d.Created)
	w.name("uniqueOrderCreators").uint(d.Creators)
	w.name("newOrderCreators").uint(d.NewCreators)
	w.name("unpricedOrdersCount").uint(d.Unpriced)
}

// AppendDeliveryTimes appends how long orders took, by pair of chains.
func (e Encoder) AppendDeliveryTimes(dst []byte, times []order.DeliveryTimes) []byte {
	return e.object(dst, func(w *writer) {
		objects(w.name("deliveryTimes"), times, func(t order.DeliveryTimes) {
			w.name("giveChainId").chainID(t.Give)
			w.name("takeChainId").chainID(t.Take)
			w.name("fulfilledOrdersCount").uint(t.Orders)
			w.name("p50Seconds").seconds(t.P50, t.Orders)
			w.name("p95Seconds").seconds(t.P95, t.Orders)
			objects(w.name("fillsByMargin"), t.Fills, w.fills)
		})
	})
}

func (w *writer) fills(f order.Fills) {
	from, below := f.Margin.Bounds()
	write := func(bps int64) { w.uint(uint64(bps)) }
	orNull(w.name("fromBps"), from, write)
	orNull(w.name("belowBps"), below, write)
	w.name("createdOrdersCount").uint(f.Created)
	w.name("fulfilledOrdersCount").uint(f.Fulfilled)
	w.name("p50Seconds").seconds(f.P50, f.Fulfilled)
}

// seconds writes a quantile over orders, null if there are none.
func (w *writer) seconds(n, orders uint64) {
	w.unless(orders == 0, func() { w.uint(n) })
}

// AppendVenues appends the results of venues. The improvement is null if there was no other usable quote.
func (e Encoder) AppendVenues(dst []byte, venues []quote.VenueDay) []byte {
	return e.object(dst, func(w *writer) {
		objects(w.name("venues"), venues, func(v quote.VenueDay) {
			w.name("name").text(v.Venue)
			w.name("comparisonsCount").uint(v.Quoted)
			w.name("wonCount").uint(v.Won)
			w.name("contestedCount").uint(v.Contested)
			w.name("averageImprovementPercent").unless(v.Contested == 0, func() {
				const perPercent = 10_000
				w.json = strconv.AppendFloat(w.json, float64(v.Gain)/float64(v.Contested)/perPercent, 'f', 4, 64)
			})
		})
	})
}

// AppendAllTime appends the statistics of all orders, as of a UNIX time.
func (e Encoder) AppendAllTime(dst []byte, s order.Statistics, at uint64) []byte {
	return e.object(dst, func(w *writer) {
		w.name("totalAmountGivenUsd").sumUSD(s.Given, s.Created)
		w.name("totalAmountTakenUsd").sumUSD(s.Taken, s.Fulfilled)
		w.name("totalProtocolFeeUsd").sumUSD(s.Fee, s.Created)
		w.name("totalAffiliateFeeUsd").sumUSD(s.Affiliate, 0)
		w.name("createdOrdersCount").uint(s.Created)
		w.name("fulfilledOrdersCount").uint(s.Fulfilled)
		w.name("activeOrdersCount").uint(s.Active)
		w.name("uniqueOrderCreators").uint(s.Creators)
		w.name("date").uint(at)
		w.name("period").plain("AllTime")
		w.name("unpricedOrdersCount").uint(s.Unpriced)
	})
}

// sumUSD writes the total value of orders, null if there are orders but none has a known value.
func (w *writer) sumUSD(sum order.USD, orders uint64) {
	const perUSD, places = 1_000_000, 6
	w.unless(orders > 0 && sum.Orders == 0, func() { w.rational(big.NewRat(sum.Micros, perUSD), places) })
}
