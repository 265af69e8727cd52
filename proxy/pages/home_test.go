package pages

import (
	"io"
	"strings"
	"testing"
	"time"

	"crossgate/order"
)

func TestHomePageTellsWhereHistoryBegins(t *testing.T) {
	pages := NewViews(Explored())
	level := func(block uint64) order.Lag { return order.Lag{Head: block, Indexed: block, Level: Noon} }
	page := Text(Render(t, func(to io.Writer) error {
		return pages.Home(to, Home{Now: Noon, Basis: order.Basis{Chains: []order.ChainBasis{
			{Chain: 1, Lag: level(900), Proven: 880},
			{
				Chain: 137, Lag: level(700), From: order.BlockTime{Number: 70, Time: uint64(Noon.Add(-time.Hour).Unix())},
				Quarantined: order.QuarantinedBlocks{Count: 2},
			},
		}}})
	}))
	for _, want := range []string{"Ethereum 900 – the first block 880 –", "Polygon 700 – 2026-11-21 11:00:00 UTC – 2"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q: %s", want, page)
		}
	}
}
