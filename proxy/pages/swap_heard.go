package pages

import (
	"strconv"
	"time"

	"crossgate/chain"
	"crossgate/proxy/web"
	"crossgate/token"
)

// Heard is what a venue answered, to be shown while others are still being asked.
type Heard struct {
	Venue string `json:"venue"`
	Says  string `json:"says"` // an amount with its symbol, or that there is no quote
	Took  string `json:"took"`
}

// NewHeard is an answer of so much of a token; nothing: the venue did not quote.
func NewHeard(venue string, amount chain.Amount, out token.Listing, took time.Duration) Heard {
	h := Heard{Venue: venue, Says: "no quote", Took: strconv.FormatInt(took.Milliseconds(), 10) + " ms"}
	if !amount.IsZero() {
		h.Says = web.AmountOf(amount.String(), int(out.Decimals)).Text + " " + out.Symbol
	}
	return h
}
