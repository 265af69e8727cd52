package wire

import (
	"testing"

	"crossgate/order"
	"crossgate/quote"
)

func TestAppendStatistics(t *testing.T) {
	priced := order.Statistics{
		Created: 3, Fulfilled: 2, Active: 1, Unpriced: 1, Creators: 2, NewCreators: 1,
		Given: order.USD{Micros: 1_234_567_890, Orders: 2}, Taken: order.USD{Micros: 2_000_000, Orders: 2}, Fee: order.USD{Micros: 4, Orders: 3},
	}
	unpriced := order.Statistics{Created: 1, Unpriced: 1, Creators: 1}
	days := []order.DailyStatistics{
		{Day: 20_362, Give: 1, Take: 100000014, Statistics: priced}, {Day: 20_362, Give: 10, Take: 1, Statistics: unpriced},
	}
	checkGolden(t, "daily_statistics", documented.AppendDaily(nil, days, days[:1]))
	checkGolden(t, "all_time_statistics", documented.AppendAllTime(nil, priced, 1_800_000_000))
	checkGolden(t, "all_time_statistics_unpriced", documented.AppendAllTime(nil, unpriced, 1_800_000_000))
	times := []order.DeliveryTimes{{Give: 1, Take: 100000014, Orders: 40, P50: 14, P95: 310}, {Give: 10, Take: 1, Orders: 1, P50: 7, P95: 7}}
	checkGolden(t, "delivery_times", documented.AppendDeliveryTimes(nil, times))
	venues := []quote.VenueDay{
		{Venue: "odos", Quoted: 12, Won: 7, Contested: 4, Gain: 12_345},
		{Venue: "kyberswap", Quoted: 3, Won: 1, Contested: 1, Gain: -250},
		{Venue: "velora", Quoted: 1},
	}
	checkGolden(t, "venues", documented.AppendVenues(nil, venues))
}
