package web

import (
	"io"
	"strconv"
	"time"

	"crossgate/chain"
)

// Home is what the first page is made of.
type Home struct {
	Chains  []chain.Chain // that swaps are made on
	Indexed []Indexed
	Now     time.Time
}

// Indexed is how far the orders of a chain have been read.
type Indexed struct {
	Chain chain.ID
	Block uint64        // zero: nothing was read yet
	Lag   time.Duration // how long ago Block was the newest
	Late  bool          // more than is usual
}

type homeView struct {
	Home
	Rows []indexedRow
}

type indexedRow struct {
	Name  string
	Block string
	Read  bool
	Lag   string // a dash when the newest block was read
	Late  bool
}

// Home writes the first page.
func (p *Pages) Home(to io.Writer, h Home) error {
	v := homeView{Home: h}
	for _, i := range h.Indexed {
		row := indexedRow{Name: p.chainName(i.Chain), Block: grouped(strconv.FormatUint(i.Block, 10)), Read: i.Block > 0, Lag: "–", Late: i.Late}
		if i.Lag >= time.Second {
			row.Lag = lasting(i.Lag)
		}
		v.Rows = append(v.Rows, row)
	}
	return p.write(to, "home", view{Title: "Crossgate", At: "home", Now: h.Now, Page: v})
}
