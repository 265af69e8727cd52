package web

import (
	"io"
	"time"

	"crossgate/chain"
)

// Home is the content of the start page.
type Home struct {
	Chains  []chain.Chain // on which swaps are supported
	Indexed []Indexed
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

// Home writes the start page.
func (p *Pages) Home(to io.Writer, h Home) error {
	return p.write(to, "home", view{Title: "Crossgate", At: "home", Now: h.Now, Page: h})
}
