package pages

import (
	"io"
	"strings"
	"testing"
	"time"

	"crossgate/order/index"
)

func TestHomePageTellsWhereHistoryBegins(t *testing.T) {
	pages := NewViews(Explored())
	level := func(block uint64) index.Lag { return index.Lag{Head: block, Indexed: block, Level: Noon} }
	page := Text(Render(t, func(to io.Writer) error {
		return pages.Home(to, Home{Now: Noon, Basis: index.Basis{Chains: []index.ChainBasis{
			{Chain: 1, Lag: level(900), Proven: 880},
			{
				Chain: 137, Lag: level(700), From: index.BlockTime{Number: 70, Time: uint64(Noon.Add(-time.Hour).Unix())},
				Quarantined: index.QuarantinedBlocks{Count: 2},
			},
		}}})
	}))
	for _, want := range []string{"Ethereum 900 – the first block 880 –", "Polygon 700 – 2026-11-21 11:00:00 UTC – 2"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q: %s", want, page)
		}
	}
}
