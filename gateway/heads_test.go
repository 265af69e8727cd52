package gateway

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/order"
	"crossgate/order/index"
	"crossgate/store"
)

// announce tells of each block of the chain when it is made.
func (c *calm) announce(ctx context.Context, announce func(order.Block)) error {
	for {
		number := c.head()
		announce(order.Block{Number: number, Hash: c.hash(number), Parent: c.hash(number - 1), Time: uint64(c.timeOf(number))})
		next := c.began.Add(time.Duration(number+1)*c.chain.BlockTime - calmSince)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Until(next)):
		}
	}
}

// TestCallsThatAnnouncedHeadsSave follows Ethereum, which is asked about all the time, on a virtual clock, and counts
// what its nodes are asked, without and with announced heads.
func TestCallsThatAnnouncedHeadsSave(t *testing.T) {
	const simulated = 36 * time.Minute
	count := func(isAnnounced bool) (calls map[string]int, aDay, oldest float64) {
		onVirtualClock(t, func(t *testing.T, db *store.DB, c config.Config, o index.Options) {
			node := newCalm(c, 1)
			var own config.Chain
			for _, each := range c.Chains {
				if each.ID == 1 {
					own = each
				}
			}
			o.Lookback = 100
			if isAnnounced {
				o.Announcers = map[chain.ID][]index.Announcer{1: {node.announce}}
			}
			x := index.New(db, map[chain.ID]order.Source{1: node.source(t, c, own)}, o)
			chains := map[chain.ID]*calm{1: node}
			stop := settled(t, x, time.Minute, chains)
			for _, age := range askAround(x, chains, []chain.ID{1}, simulated)[1] {
				oldest = max(oldest, age.Seconds())
			}
			aDay = float64(node.total()) * float64(24*time.Hour) / float64(simulated)
			stop()
			calls = node.calls
		})
		return calls, aDay, oldest
	}
	polled, before, age := count(false)
	t.Logf("asked for heads: %.0f calls a day, newest indexed block at most %.1f s old: %v", before, age, polled)
	announced, after, age := count(true)
	t.Logf("told of heads: %.0f calls a day, newest indexed block at most %.1f s old: %v", after, age, announced)
	if after > 0.6*before {
		t.Errorf("%.0f calls a day with announced heads, %.0f without: want two fifths less at least", after, before)
	}
	if age > 14 {
		t.Errorf("with announced heads the newest indexed block was %.1f s old, want one block time and 2 s at most", age)
	}
}

// TestEndpointsWithAWebSocketAnnounceHeads has a configured WebSocket connected to, before and after a reload.
func TestEndpointsWithAWebSocketAnnounceHeads(t *testing.T) {
	var asked atomic.Int64
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") == "websocket" && r.URL.Path == "/canary" && r.Header.Get("X-Key") == "canary" {
			asked.Add(1)
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(node.Close)
	c, err := config.Parse([]byte(`chains: [{id: 1, endpoints: [{name: polled, url: "https://example.com"}, ` +
		`{name: node, url: "https://example.com", headers: {X-Key: canary}, websocket: "ws` + strings.TrimPrefix(node.URL, "http") + `/canary"}]}]`))
	if err != nil {
		t.Fatal(err)
	}
	first, err := build(c, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(first.close)
	second, err := build(c, nil, first)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(second.close)
	for _, p := range []*parts{first, second} {
		announcers := p.announcers()
		if len(announcers) != 1 || len(announcers[1]) != 1 {
			t.Fatalf("announcers of %d chains, %d of Ethereum's, want one", len(announcers), len(announcers[1]))
		}
		err := announcers[1][0](t.Context(), func(order.Block) {})
		if want := "node: WebSocket: connect: refused with HTTP 404; check the address and the key of websocket"; err == nil || err.Error() != want {
			t.Errorf("the announcer ended with %v, want %s", err, want)
		}
	}
	if asked.Load() != 2 {
		t.Errorf("the WebSocket was asked for %d times with its key, want 2", asked.Load())
	}
}
