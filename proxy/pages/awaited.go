package pages

import (
	"io"
	"time"

	"crossgate/chain"
	"crossgate/proxy/web"
)

// Awaited is what was asked for and is not there yet.
type Awaited struct {
	ID       string // of the problem, for programs
	Text     string // as in the request
	IsHash   bool   // of 32 bytes, which an order or a swap may have as its id
	Searched []Searched
	Events   string // path of the stream that says when it is there
	Now      time.Time
}

// Searched is a chain on which something was looked for.
type Searched struct {
	Chain     chain.ID
	Block     uint64 // newest indexed one; 0: none yet
	IsUnheard bool   // the chain did not answer
	IsForeign bool   // its transactions have other hashes: it was not asked for one
}

// Awaited writes the page of what is not there yet.
func (p *Views) Awaited(to io.Writer, a Awaited) error {
	return p.Write(to, "awaited", web.View{Title: "Waiting for " + web.Short(a.Text), At: "order", Now: a.Now, Page: a})
}
