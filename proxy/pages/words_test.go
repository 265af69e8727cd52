package pages

import (
	"fmt"
	"io"
	"math/big"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/internal/golden"
	"crossgate/order"
	"crossgate/order/stats"
	"crossgate/proxy/orders"
	"crossgate/proxy/web"
)

// TestPagesSayWhatIsKnown compares the pages' text, without choices and pictures, with a golden file.
func TestPagesSayWhatIsKnown(t *testing.T) {
	begun, left := Gap{Chain: 8453, From: 70_000, Since: Noon}, Gap{Chain: 137, Quarantined: 1}
	before := statisticsOf()
	before.Days, before.FirstDay, before.Since = 4, before.FirstDay.AddDate(0, 0, -1), time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	delivered := map[order.ID]order.Delivery{{1}: {At: uint64(Noon.Add(-75 * time.Hour).Unix()), Give: chain.NewAmount(17992800)}}
	const root = "http://127.0.0.1:8080"
	var text strings.Builder
	for _, each := range []struct {
		name string
		page any
	}{
		{"created", Order{Record: recordOf("created"), Path: "/api/Orders/0x01", Origin: root}},
		{"created, later than usual", late()},
		{"claimed, while its call waits", uncalled()},
		{"cancelled", Order{Record: recordOf("cancelled"), JSON: "{}"}},
		{"to Solana", Order{Record: recordOf("to Solana"), JSON: "{}"}},
		{"from TRON to Solana", Order{Record: recordOf("from TRON to Solana"), JSON: "{}"}},
		{"creation not seen", Order{Record: recordOf("creation not seen"), JSON: "{}"}},
		{"claimed, with values and where it was read", Order{
			Record: recordOf("claimed"), JSON: "{}", Give: big.NewRat(9999, 10_000),
			Then: &stats.Values{Given: new(int64(18_000_000)), Fee: new(int64(610_000))},
			Read: []order.ChainBasis{{Chain: 137, Followed: true, Lag: order.Lag{Indexed: 1234}, Proven: 1200, Final: true}, {Chain: 8453}},
		}},
		{"created, a gap that its creation alone could be in", Order{Record: recordOf("created"), JSON: "{}", Gaps: []Gap{begun}}},
		{"created, a gap that its delivery could be in", Order{Record: recordOf("created"), JSON: "{}", Gaps: []Gap{begun, left}}},
		{"claimed, with a gap", Order{Record: recordOf("claimed"), JSON: "{}", Gaps: []Gap{left}}},
		{"creation not seen, with a gap", Order{Record: recordOf("creation not seen"), JSON: "{}", Gaps: []Gap{begun}}},
		{"a swap of which one price is known", SwapRecord{Record: swapped(), In: big.NewRat(3200, 1)}},
		{"locked", Locked{Taker: "0xd1", Answer: lockedAssets(), Deliveries: delivered}},
		{"nothing locked", Locked{Answer: &orders.Locked{}}},
		{"statistics", statisticsOf()},
		{"statistics from before the history", before},
		{"statistics of nothing read", Statistics{Days: 7, Reason: "no chain has been read so far"}},
		{"statistics of no orders", Statistics{Days: 7, HasDaily: true, HasVenues: true, Gaps: []Gap{{Chain: chain.ID(1), IsUnread: true}}}},
		{"no order fits", List{Answer: &orders.Listed{}}},
		{"no swap fits", List{Answer: &orders.Listed{}, Form: url.Values{"mode": {"samechain"}}}},
		{"after the end of the list", List{Answer: &orders.Listed{Total: 12}, Skip: 50}},
		{"no list", List{Problem: &web.Problem{ID: "INDEX_EMPTY", Message: "nothing read"}}},
		{"a wrong filter", List{Faults: []Fault{{Field: "maker", Message: "The maker must be an address."}}}},
	} {
		fmt.Fprintf(&text, "== %s ==\n%s\n", each.name, said(Render(t, func(to io.Writer) error { return written(to, each.page) })))
	}
	golden.Check(t, "testdata/words.txt", text.String())
}

// late returns an order that has waited longer than most, and that one account can cancel.
func late() Order {
	r := recordOf("created")
	r.Order.Terms.Authorities.Order = addressOn(137, 0xe0)
	return Order{Record: r, JSON: "{}", Usual: &order.DeliveryTimes{Give: 8453, Take: 137, Orders: 20, P50: 65, P95: 600}}
}

// uncalled returns a fulfilment that one account can take instead of its call.
func uncalled() Order {
	r := recordOf("claimed")
	r.Order.Call, r.Order.Terms.Authorities.Order = order.AwaitingExecution, addressOn(137, 0xe0)
	return Order{Record: r, JSON: "{}"}
}

// written renders a page at noon.
func written(to io.Writer, page any) error {
	pages := NewViews(Explored())
	switch page := page.(type) {
	case Order:
		page.Now = Noon
		return pages.Order(to, page)
	case SwapRecord:
		page.Now = Noon
		return pages.SwapRecord(to, page)
	case Locked:
		page.Now = Noon
		return pages.Locked(to, page)
	case Statistics:
		page.Now = Noon
		return pages.Statistics(to, page)
	case List:
		page.Now, page.Chains, page.Rows = Noon, chain.Documented().All(), 25
		return pages.List(to, page)
	}
	return fmt.Errorf("%T is not a page", page)
}

var (
	drawn  = regexp.MustCompile(`(?s)<option.*?</option>|<svg.*?</svg>`)
	ending = regexp.MustCompile(`</(h\d|p|li|tr|dd|summary|div|figcaption)>`)
)

// said returns the text of a page's main part, line by line.
func said(page string) string {
	_, page, _ = strings.Cut(page, "<main")
	page, _, _ = strings.Cut("<main"+page, "</main>")
	var text strings.Builder
	for line := range strings.Lines(ending.ReplaceAllString(strings.ReplaceAll(drawn.ReplaceAllString(page, ""), "\n", " "), "\n")) {
		if words := golden.PageText(line); words != "" {
			text.WriteString(words + "\n")
		}
	}
	return text.String()
}
