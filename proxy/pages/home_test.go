package pages

import (
	"io"
	"strings"
	"testing"
	"time"
)

func TestHomePageTellsWhereHistoryBegins(t *testing.T) {
	pages := NewViews(Explored())
	page := Text(Render(t, func(to io.Writer) error {
		return pages.Home(to, Home{Now: Noon, Indexed: []Indexed{
			{Chain: 1, Block: 900, Proven: 880}, {Chain: 137, Block: 700, From: 70, Since: Noon.Add(-time.Hour), Quarantined: 2},
		}})
	}))
	for _, want := range []string{"Ethereum 900 – the first block 880 –", "Polygon 700 – 2026-11-21 11:00:00 UTC – 2"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q: %s", want, page)
		}
	}
}
