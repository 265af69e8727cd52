package compare

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"sync"

	"github.com/gin-gonic/gin"

	"crossgate/proxy"
	"crossgate/proxy/pages"
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
	heard, compared := make(chan quote.Heard, heardVenues), make(chan struct{})
	if takeField(shown.Form) == "" { // between chains quotes are in reserve tokens
		ctx = quote.WithWatcher(ctx, func(h quote.Heard) {
			select {
			case heard <- h:
			default: // the page has it
			}
		})
	}
	var sending sync.WaitGroup
	sending.Go(func() {
		for {
			select {
			case h := <-heard:
				events.SendJSON("quote", heardOf(h, *form.get.token))
			case <-compared:
				return
			}
		}
	})
	func() {
		defer sending.Wait() // also after a panic
		defer close(compared)
		s.compare(ctx, c, &shown, form)
	}()
	var page bytes.Buffer
	if err := s.pages.Swap(&page, shown); err != nil {
		_ = c.Error(err) // for the log
		return
	}
	events.SendJSON("page", comparedPage{"/swap?" + c.Request.URL.RawQuery, page.String()})
}

// heardVenue is a venue's answer, to be shown while others are still pending.
type heardVenue struct {
	Venue string `json:"venue"`
	Says  string `json:"says"` // an amount with its symbol, or "no quote"
	Took  string `json:"took"`
}

func heardOf(h quote.Heard, out token.Listing) heardVenue {
	v := heardVenue{Venue: h.Venue, Says: "no quote", Took: strconv.FormatInt(h.Took.Milliseconds(), 10) + " ms"}
	if !h.AmountOut.IsZero() {
		v.Says = pages.AmountOf(h.AmountOut, out.Token).Text + " " + out.Symbol
	}
	return v
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
