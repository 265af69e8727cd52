package pages

import "fmt"

// venueRow is what became of a venue in the comparisons of some days.
type venueRow struct {
	Name          string
	Won, Compared uint64
	Share         string // percent of the comparisons that it won
	Gain          string // what it paid more than the next when it won, in words; empty: there was no other
}

type venuesJSON struct {
	Venues []struct {
		Name                       string
		ComparisonsCount, WonCount uint64
		AverageImprovementPercent  *float64
	}
}

func venueRows(answer []byte) ([]venueRow, error) {
	all, err := decode[venuesJSON](answer)
	if err != nil {
		return nil, err
	}
	rows := make([]venueRow, len(all.Venues))
	for i, each := range all.Venues {
		rows[i] = venueRow{
			Name: each.Name, Won: each.WonCount, Compared: each.ComparisonsCount,
			Share: percents(100 * float64(each.WonCount) / float64(max(each.ComparisonsCount, 1))),
		}
		if each.AverageImprovementPercent != nil {
			rows[i].Gain = gainText(*each.AverageImprovementPercent)
		}
	}
	return rows, nil
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
