package pages

import (
	"io"
	"strings"
	"testing"
)

func orderPage(t *testing.T, name string) string {
	t.Helper()
	pages := NewViews(Explored())
	return Render(t, func(to io.Writer) error {
		return pages.Order(to, Order{Record: recordOf(name), Path: "/api/Orders/0x01", Now: Noon, Origin: "http://127.0.0.1:8080"})
	})
}

func TestOrderPageTellsTheWholeWay(t *testing.T) {
	for name, wants := range map[string][]string{
		"created":             {"Created waiting for a taker", "Fulfilled on", "Not yet: a taker must deliver", "Unlock claimed"},
		"claimed":             {"ClaimedUnlock delivered and paid", "the maker locked the give amount", "a taker delivered", "the taker was paid"},
		"cancelled":           {"Cancelled", "refund"},
		"to Solana":           {"on Solana"},
		"from TRON to Solana": {"Gives on TRON", "Takes on Solana"},
		"creation not seen":   {"Not yet: the creation has not been seen"},
	} {
		page := Text(orderPage(t, name))
		for _, want := range wants {
			if !strings.Contains(page, want) {
				t.Errorf("page of %s lacks %q: %s", name, want, page)
			}
		}
	}
}

func TestOrderPageHasFeesOnlyOfACreationThatWasSeen(t *testing.T) {
	for name, want := range map[string]bool{"created": true, "creation not seen": false} {
		page := Text(orderPage(t, name))
		for _, fee := range []string{"Percent fee", "Fixed fee"} {
			if got := strings.Contains(page, fee); got != want {
				t.Errorf("page of %s has a %s: %t, want %t", name, fee, got, want)
			}
		}
	}
}

// TestOrderPageSaysWhatItCannotKnow has gaps on the order's chains: one that only a creation can be in, and one that any
// later event can be in.
func TestOrderPageSaysWhatItCannotKnow(t *testing.T) {
	begun, left := Gap{Chain: 8453, From: 70_000, Since: Noon}, Gap{Chain: 137, Quarantined: 1}
	pages := NewViews(Explored())
	for _, test := range []struct {
		name  string
		gaps  []Gap
		want  string
		lacks string
	}{
		{"created", []Gap{begun}, "waiting for a taker", "Not everything"},
		{"created", []Gap{begun, left}, "no delivery was seen Not everything was read of 1 chain Polygon: 1 block cannot be read", "waiting for a taker"},
		{"claimed", []Gap{left}, "delivered and paid Not everything", "70,000"},
		{"creation not seen", []Gap{begun}, "delivered; no payment was seen Not everything was read of 1 chain Base: read from block 70,000 on", "has not been paid"},
	} {
		page := Text(Render(t, func(to io.Writer) error {
			return pages.Order(to, Order{Record: recordOf(test.name), JSON: "{}", Gaps: test.gaps, Now: Noon})
		}))
		if !strings.Contains(page, test.want) || strings.Contains(page, test.lacks) {
			t.Errorf("page of %s with gaps %v: want %q and not %q: %s", test.name, test.gaps, test.want, test.lacks, page)
		}
	}
}
