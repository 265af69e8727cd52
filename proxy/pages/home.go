package pages

import (
	"io"
	"slices"
	"time"

	"crossgate/chain"
	"crossgate/proxy/orders"
	"crossgate/proxy/web"
)

// Home is the content of the start page.
type Home struct {
	Chains  []chain.Chain // on which swaps are supported
	Indexed []Indexed
	Orders  *orders.Listed // the newest; nil: they cannot be listed at the moment
	Swaps   *orders.Listed // the newest within a chain; nil likewise
	Origin  string         // scheme and host of this server, for previews of a link to it
	Now     time.Time
}

// Indexed is how far the orders of a chain are indexed.
type Indexed struct {
	Chain chain.ID
	Block uint64        // newest indexed block; zero: none yet
	Lag   time.Duration // since Block was the chain's newest
	Late  bool          // Lag is above the configured threshold

	From        uint64    // first indexed block; zero: nothing is missing before Block
	Since       time.Time // its time
	Proven      uint64    // newest block up to which a second reading confirms the first; zero: none yet
	Quarantined int       // blocks in between that no endpoint can give
}

type homeView struct {
	Home
	Recent   []listed
	Examples []example
}

// example is something to search for that is there.
type example struct{ What, Text string }

// mostRecent is how many orders and swaps the start page shows.
const mostRecent = 12

// Home writes the start page.
func (p *Views) Home(to io.Writer, h Home) error {
	rows := p.rows(h.Orders, h.Swaps)
	v := homeView{Home: h, Examples: examplesOf(rows, h.Chains), Recent: rows[:min(len(rows), mostRecent)]}
	return p.Write(to, "home", web.View{Title: "Crossgate", At: "home", Root: h.Origin, Now: h.Now, Page: v})
}

// examplesOf are one of each kind of what can be searched for.
func examplesOf(rows []listed, chains []chain.Chain) []example {
	var all []example
	for _, isSwap := range []bool{false, true} {
		at := slices.IndexFunc(rows, func(r listed) bool { return r.IsSwap == isSwap })
		switch {
		case at < 0:
		case isSwap:
			all = append(all, example{"a swap", rows[at].ID})
		default:
			all = append(all, example{"an order", rows[at].ID}, example{"a token", rows[at].Give.Token.Symbol})
		}
	}
	if len(chains) > 0 {
		all = append(all, example{"a chain", chains[0].Name})
	}
	return slices.DeleteFunc(all, func(e example) bool { return e.Text == "" })
}
