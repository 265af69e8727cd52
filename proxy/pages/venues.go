package pages

import (
	"fmt"

	"crossgate/quote"
)

// venueRow is what became of a venue in the comparisons of some days.
type venueRow struct {
	Name          string
	Won, Compared uint64
	Share         string // percent of the comparisons that it won
	Gain          string // what it paid more than the next when it won, in words; empty: there was no other
}

func venueRows(all []quote.VenueDay) []venueRow {
	rows := make([]venueRow, len(all))
	for i, each := range all {
		rows[i] = venueRow{Name: each.Venue, Won: each.Won, Compared: each.Quoted, Share: percents(100 * float64(each.Won) / float64(max(each.Quoted, 1)))}
		if each.Contested > 0 {
			const perPercent = 10_000
			rows[i].Gain = gainText(float64(each.Gain) / float64(each.Contested) / perPercent)
		}
	}
	return rows
}

// gainText says how much more than the next a venue paid out, in percent of that.
func gainText(percent float64) string {
	const least = 0.005 // what two decimals can tell
	switch {
	case percent >= least:
		return fmt.Sprintf("%.2f %% more than the next", percent)
	case percent <= -least:
		return fmt.Sprintf("%.2f %% less than the next, for cheaper gas", -percent)
	}
	return "as much as the next"
}
