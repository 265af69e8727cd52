package pages

import (
	"io"
	"strings"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/proxy/orders"
)

func TestLockedPageShowsForHowLong(t *testing.T) {
	pages := NewViews(Explored())
	page := Text(Render(t, func(to io.Writer) error {
		return pages.Locked(to, Locked{Taker: "0xd1", Answer: lockedAssets(), Now: Noon, Deliveries: map[order.ID]order.Delivery{{1}: {At: uint64(Noon.Add(-75 * time.Hour).Unix()), Give: chain.NewAmount(17992800)}}})
	}))
	for _, want := range []string{"longest wait 3 days", "at least $35.98 in 4 orders awaiting unlock", "not looked up", "2026-11-18 09:00:00 UTC 17.9928 3 days"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q: %s", want, page)
		}
	}
	empty := Text(Render(t, func(to io.Writer) error { return pages.Locked(to, Locked{Answer: &orders.Locked{}}) }))
	if !strings.Contains(empty, "Nothing is locked") {
		t.Errorf("page of nothing: %s", empty)
	}
}
