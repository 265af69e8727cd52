package pages

import (
	"cmp"
	"net/url"
	"slices"
	"time"

	"crossgate/chain"
)

// listJSON is a part of a list of orders, or of swaps within a chain, which have the same members.
type listJSON struct {
	TotalCount uint64
	Orders     []struct {
		OrderID           named
		CreationTimestamp int64
		Give              offerJSON `json:"giveOfferWithMetadata"`
		Take              offerJSON `json:"takeOfferWithMetadata"`
		State, TradeType  string
	}
}

// listed is an order or a swap as a row of a table.
type listed struct {
	ID, URL    string
	IsSwap     bool // within a chain
	State      string
	Tone       string // CSS class of the state
	Give, Take sideView
	Created    time.Time
}

// rows are the orders and swaps of some answers together, the newest first.
func (p *Views) rows(answers ...[]byte) ([]listed, error) {
	var rows []listed
	for _, answer := range answers {
		if answer == nil {
			continue
		}
		list, err := decode[listJSON](answer)
		if err != nil {
			return nil, err
		}
		for _, o := range list.Orders {
			words := stateWords[o.State]
			row := listed{
				ID: o.OrderID.Text, URL: "/order/" + url.PathEscape(o.OrderID.Text), State: words.brief, Tone: words.tone,
				Give: p.side(o.Give), Take: p.side(o.Take), Created: time.Unix(o.CreationTimestamp, 0),
			}
			if row.IsSwap = o.TradeType == "SameChain"; row.IsSwap {
				row.URL, row.State, row.Tone = "/swap/"+url.PathEscape(o.OrderID.Text), "swapped", "done"
			}
			rows = append(rows, row)
		}
	}
	slices.SortStableFunc(rows, func(a, b listed) int { return cmp.Compare(b.Created.Unix(), a.Created.Unix()) })
	return rows, nil
}

// table is what the rows of orders and swaps are shown with.
type table struct {
	Rows  []listed
	Now   time.Time
	Label string // id of the heading that names it
}

func tableOf(rows []listed, now time.Time, label string) table { return table{rows, now, label} }

// chosenChain are the chains of a field that names one, and the id of the one that is chosen.
type chosenChain struct {
	Chains []chain.Chain
	Chosen string
}

func chosenOf(chains []chain.Chain, id string) chosenChain { return chosenChain{chains, id} }
