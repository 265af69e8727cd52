package follow

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/internal/golden"
	"crossgate/internal/measured"
	"crossgate/internal/must"
	"crossgate/order"
)

// TestProjections has a golden file of the calls that following takes per day: often and rarely, with one endpoint and
// with two. TestADayOfFollowing of package gateway compares projections with the actual calls.
func TestProjections(t *testing.T) {
	var text strings.Builder
	pace := Pace{}.WithDefaults()
	fmt.Fprintf(&text, "by default: asked %v, listed %v, idle %v, retired %v, quiet %v\n", pace.Asked, pace.Listed, pace.Idle, pace.Retired, pace.Quiet)
	for _, id := range []chain.ID{chain.Ethereum, 8453, chain.Solana} {
		known, _ := chain.Documented().Chain(id)
		for _, every := range []time.Duration{1900 * time.Millisecond, time.Minute} {
			for endpoints := range 2 {
				p := Project(known, every, 1+endpoints)
				fmt.Fprintf(&text, "%s every %v by %d: %.0f looks, %.0f calls, %.0f units", known.Name, every, 1+endpoints, p.Looks, p.Total(),
					p.Units(map[string]int{"eth_getLogs": 60, "*": 20}))
				for _, method := range slices.Sorted(maps.Keys(p.Calls)) {
					fmt.Fprintf(&text, ", %s %.0f", method, p.Calls[method])
				}
				text.WriteString("\n")
			}
		}
	}
	golden.Check(t, "testdata/projections.txt", text.String())
}

// TestAnnouncedHeadsDoNotGoBack announces a late head, and one of another branch.
func TestAnnouncedHeadsDoNotGoBack(t *testing.T) {
	known, _ := chain.Documented().Chain(chain.Ethereum)
	a := newAnnouncements(known, nil, time.Minute, nil)
	a.begin()
	newest, other := order.Block{Number: 9, Hash: chain.Hash{9}}, order.Block{Number: 9, Hash: chain.Hash{8}}
	for _, each := range []struct{ announced, want order.Block }{
		{newest, newest}, {order.Block{Number: 8, Hash: chain.Hash{8}}, newest}, {other, other}, {newest, newest},
	} {
		a.add(each.announced)
		if isQuiet := !a.quietUntil(each.want).IsZero(); !isQuiet {
			t.Errorf("after %v was announced the newest is %v, want %v", each.announced, a.newest, each.want)
		}
	}
}

// changed counts reports of changed orders.
type changed struct {
	unobserved
	times int
}

func (c *changed) OrdersChanged([]order.Change) { c.times++ }

// TestNothingChangedIsNotReported: a nil report would mean that any order may have changed.
func TestNothingChangedIsNotReported(t *testing.T) {
	var counting changed
	f := following(t, Pace{})
	f.Observer = &counting
	f.Report(nil)
	if f.Report([]order.Change{{}}); counting.times != 1 {
		t.Errorf("%d reports of one change and of none, want one", counting.times)
	}
}

// TestAnnouncedHeadsAreMeasuredWhileTheyAreAnnounced reads the metric before and after the first announcement.
func TestAnnouncedHeadsAreMeasuredWhileTheyAreAnnounced(t *testing.T) {
	now := measured.Start(t)
	c := unasked(t, Pace{})
	announced := c.Followers[0].announced
	announced.from = make([]Announcer, 1)
	stop := must.Get(c.observe())(t)
	const head = "crossgate.index.announced_head{crossgate.chain.id=1,}"
	if value, is := now()[head]; is {
		t.Errorf("head %v was announced, want none", value)
	}
	announced.begin()
	announced.add(order.Block{Number: 9})
	if value := now()[head]; value != 9 {
		t.Errorf("head %v was announced, want 9", value)
	}
	must.Do(t, stop())
}
