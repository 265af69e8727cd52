package web

import "fmt"

// venueRow is what became of a venue in the comparisons of some days.
type venueRow struct {
	Name          string
	Won, Compared uint64
	Share         string // percent of the comparisons that it won
	Gain          string // percent by which it paid more than the next when it won; empty: there was no other
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
		if gain := each.AverageImprovementPercent; gain != nil {
			rows[i].Gain = fmt.Sprintf("%.2f %%", *gain)
		}
	}
	return rows, nil
}
