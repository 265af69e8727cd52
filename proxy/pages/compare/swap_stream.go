package compare

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/chain"
	"crossgate/proxy"
	"crossgate/proxy/web"
	"crossgate/quote"
	"crossgate/token"
)

// heardVenues is how many venues' answers may wait for the stream; more than a chain has venues.
const heardVenues = 128

// comparedPage is the last event of a comparison's stream: the whole page and its path.
type comparedPage struct {
	Path string `json:"path"`
	Page string `json:"page"`
}

// streamComparison sends each venue's answer on one chain as it arrives, as event "quote", and then the comparison
// page, as event "page". There is one comparison, the same as for a browser without scripts. It is completed even if
// the server stops.
func (s *Pages) streamComparison(c *gin.Context, shown Swap) {
	ctx := c.Request.Context()
	events, form := proxy.OpenEvents(c), s.readSwapForm(ctx, shown.Form)
	heard, made := make(chan quote.Heard, heardVenues), make(chan error, 1)
	var page bytes.Buffer
	if takeField(shown.Form) == "" { // between chains quotes are in reserve tokens
		ctx = quote.WithWatcher(ctx, func(h quote.Heard) {
			select {
			case heard <- h:
			default: // the page has it
			}
		})
	}
	go func() {
		s.compare(ctx, c, &shown, form)
		made <- s.pages.Swap(&page, shown)
	}()
	for {
		select {
		case h := <-heard:
			events.SendJSON("quote", NewHeard(h.Venue, h.AmountOut, *form.get.token, h.Took))
		case err := <-made:
			if err != nil {
				_ = c.Error(err) // for the log
				return
			}
			events.SendJSON("page", comparedPage{"/swap?" + c.Request.URL.RawQuery, page.String()})
			return
		}
	}
}

// Heard is a venue's answer, to be shown while others are still pending.
type Heard struct {
	Venue string `json:"venue"`
	Says  string `json:"says"` // an amount with its symbol, or "no quote"
	Took  string `json:"took"`
}

// NewHeard returns a venue's answer of an amount of a token; zero means that the venue did not quote.
func NewHeard(venue string, amount chain.Amount, out token.Listing, took time.Duration) Heard {
	h := Heard{Venue: venue, Says: "no quote", Took: strconv.FormatInt(took.Milliseconds(), 10) + " ms"}
	if !amount.IsZero() {
		h.Says = web.AmountOf(amount.String(), int(out.Decimals)).Text + " " + out.Symbol
	}
	return h
}

func txJSON(tx quote.Tx) string {
	members := map[string]string{"data": "0x" + hex.EncodeToString(tx.Data)}
	if !tx.To.IsAbsent() {
		members["to"], members["value"] = tx.To.Checksum(), tx.Value.String()
	}
	text, err := json.MarshalIndent(members, "", "  ")
	if err != nil {
		return ""
	}
	return string(text)
}
