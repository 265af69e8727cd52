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

func TestLockedPageTellsForHowLong(t *testing.T) {
	raw := Answer(t, "locked")
	locked, ids := lockedIn(t, raw)
	pages := NewViews(Explored())
	page := Text(Render(t, func(to io.Writer) error {
		return pages.Locked(to, Locked{Taker: "0xd1", Answer: locked, Now: Noon, Deliveries: map[order.ID]order.Delivery{ids[0]: {At: uint64(Noon.Add(-75 * time.Hour).Unix()), Give: chain.NewAmount(17992800)}}})
	}))
	for _, want := range []string{"longest wait 3 days", "2026-11-18 09:00:00 UTC 17.9928 3 days"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q: %s", want, page)
		}
	}
	empty := Text(Render(t, func(to io.Writer) error { return pages.Locked(to, Locked{Answer: &orders.Locked{}}) }))
	if !strings.Contains(empty, "Nothing is locked") {
		t.Errorf("page of nothing: %s", empty)
	}
}

// TestLockedPageTellsAgesAndBatches has a delivery in each bucket, one of a token without a price.
func TestLockedPageTellsAgesAndBatches(t *testing.T) {
	raw := Answer(t, "locked")
	locked, ids := lockedIn(t, raw)
	pages := NewViews(Explored())
	page := Text(Render(t, func(to io.Writer) error {
		return pages.Locked(to, Locked{Taker: "0xd1", Answer: locked, Now: Noon, Deliveries: map[order.ID]order.Delivery{
			ids[0]: {At: uint64(Noon.Add(-59 * time.Minute).Unix()), Give: chain.NewAmount(17992800)},
			ids[1]: {At: uint64(Noon.Add(-time.Hour).Unix()), Give: chain.NewAmount(10000000)},
			ids[2]: {At: uint64(Noon.Add(-8 * 24 * time.Hour).Unix()), Give: chain.NewAmount(7992801), State: order.StateSentUnlock},
			ids[3]: {At: uint64(Noon.Add(-25 * time.Hour).Unix()), Give: chain.NewAmount(7)},
		}})
	}))
	for _, want := range []string{
		"at least $35.98 in 4 orders awaiting unlock", "All history of all chains was read.",
		"USDC on Base $17.99 1 order $10.00 1 order – $7.99 1 order $35.98 3 orders",
		"TRX on TRON – – no price 1 order – no price 1 order",
		"All $17.99 1 order $10.00 1 order no price 1 order $7.99 1 order at least $35.98 4 orders",
		"Base TRON 1 no price 1 0", "Polygon Base 1 $17.99 1 0", "Solana Base 1 $10.00 – 1",
		"Ids of the first batch from Polygon to Base " + ids[0].String(),
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q: %s", want, page)
		}
	}
	if strings.Contains(page, "$0.00") || strings.Contains(page, "Not looked up") {
		t.Errorf("what has no price has a value, or what was looked up was not: %s", page)
	}
}

// TestWhatWasNotLookedUpHasNoAge has one delivery of four.
func TestWhatWasNotLookedUpHasNoAge(t *testing.T) {
	raw := Answer(t, "locked")
	locked, ids := lockedIn(t, raw)
	pages := NewViews(Explored())
	page := Text(Render(t, func(to io.Writer) error {
		return pages.Locked(to, Locked{Answer: locked, Now: Noon, Deliveries: map[order.ID]order.Delivery{ids[0]: {At: uint64(Noon.Unix()), Give: chain.NewAmount(17992800)}}})
	}))
	if want := "Not looked up All USDC on Base $17.99 1 order – – – – 2 orders $35.98 3 orders"; !strings.Contains(page, want) {
		t.Errorf("the page lacks %q: %s", want, page)
	}
}

func TestLockedPageTellsSinceWhenHistoryIsKnown(t *testing.T) {
	pages := NewViews(Explored())
	page := Text(Render(t, func(to io.Writer) error {
		return pages.Locked(to, Locked{Answer: &orders.Locked{}, Now: Noon, Gaps: []Gap{{Chain: 1, From: 7, Since: Noon.Add(-time.Hour)}, {Chain: 137, From: 9, Since: Noon.Add(-2 * time.Hour)}}})
	}))
	if !strings.Contains(page, "The history of all chains is known since 2026-11-21 11:00:00 UTC") || strings.Contains(page, "All history") {
		t.Errorf("the page does not say since when: %s", page)
	}
}

// TestBatchesAreAsLargeAsTheContractsAllow counts the messages that some numbers of orders take.
func TestBatchesAreAsLargeAsTheContractsAllow(t *testing.T) {
	pages := NewViews(Explored())
	for _, row := range []struct {
		key           batchOf
		orders, wants int
	}{
		{batchOf{take: 137, give: 1}, 50, 1},
		{batchOf{take: 137, give: 1}, 51, 2},
		{batchOf{take: 137, give: chain.Solana}, 8, 2},
		{batchOf{take: chain.Solana, give: 1}, 8, 0},
		{batchOf{take: 137, give: 1}, 0, 0},
	} {
		if got := pages.batch(row.key, make([]unlockable, row.orders)).Batches; got != row.wants {
			t.Errorf("%d orders of %+v take %d batches, want %d", row.orders, row.key, got, row.wants)
		}
	}
}
