package web

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/internal/golden"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/quote"
	"crossgate/upstream"
	"crossgate/webhook"
)

func operatorsPage(t *testing.T, o Operators) string {
	t.Helper()
	var page bytes.Buffer
	must.Do(t, New(chain.Documented()).Operators(&page, o))
	return page.String()
}

func TestOperatorsSeeHowEverythingIs(t *testing.T) {
	o := Operators{Now: atNoon}
	o.Cache = cache.Stats{Hits: 3, Stales: 1, Misses: 1, Loads: 1234}
	o.Release = "crossgate 1.2.3 (commit 0a1b2c)"
	o.Chains = []ChainCondition{{
		ChainBasis: order.ChainBasis{Chain: 8453, Lag: order.Lag{Head: 1_000_010, Indexed: 1_000_000}}, Behind: 20 * time.Second, Announcers: 2, Announcing: 2, Announced: 1_000_011, Corrections: 3,
		Unasked: Load{43_200, 1_296_000, 900_000, 1_000_000, new(0.45)}, Asked: Load{86_400, 2_592_000, 1_800_000, 1_000_000, new(1234.5)},
	}}
	o.Unasked, o.Asked = Load{CallsPerDay: 43_200, UnitsPerMonth: 900_000}, o.Chains[0].Asked
	o.Started = atNoon.Add(-51 * time.Hour)
	o.Services = []Service{{Name: "Base", Endpoints: []Endpoint{
		{Health: upstream.Health{Endpoint: "base-1", Standing: "ready", CanBeAsked: true, Preferred: true, IsClosed: true, Usual: 42 * time.Millisecond, Left: 12.7, IsLimited: true, Head: "+0", Rate: 2.5}, Limits: []string{"searches 700 blocks", "no eth_simulateV1"}},
		{Health: upstream.Health{Endpoint: "base-2", Standing: "ready", CanBeAsked: true, IsClosed: true, Head: "-19"}},
		{Health: upstream.Health{Endpoint: "base-3", Standing: "ready", CanBeAsked: true, IsClosed: true}},
	}}}
	o.Venues = []Venue{
		{quote.Record{Name: "kyberswap", Outbid: 2, Refused: 1, Took: 130 * time.Millisecond, Reason: "HTTP 500", At: atNoon.Add(-time.Minute)}},
		{quote.Record{Name: "odos", Won: 2, Took: 90 * time.Millisecond}},
	}
	page := golden.PageText(operatorsPage(t, o))
	golden.Contains(t, "the page", page,
		"Healthy", "Base 1,000,010 1,000,000 20 seconds 0 – 0 3 1,000,011, 2 of 2", "Base base-1 preferred ready closed 0 42 ms 2.5/s 0 % 12 searches 700 blocks no eth_simulateV1 none",
		"Base base-2 ready closed −19 – 0.0/s 0 % no limit – none", "Base base-3 ready closed – – 0.0/s 0 % no limit – none",
		"odos quotes 2 0 0 0 0 90 ms none kyberswap quotes 0 2 1 0 0 130 ms 1 minute ago: HTTP 500",
		"Up 2 days 3 hours", "Base 43,200 86,400 900,000 1,800,000 $0.45 $1,235 1,000,000 exceeds the plans when asked all the time",
		"All chains 43,200 86,400 900,000 1,800,000 – $1,235",
		"Hit ratio 80.0 %", "Loads 1,234", "crossgate 1.2.3 (commit 0a1b2c)",
	)
}

func TestOperatorsSeeWhatIsNotWell(t *testing.T) {
	chains := []ChainCondition{{ChainBasis: order.ChainBasis{
		Chain: 137, Lag: order.Lag{Head: 902, Indexed: 900}, From: order.BlockTime{Number: 70}, Proven: 880, Quarantined: order.QuarantinedBlocks{Count: 2},
	}}}
	page := operatorsPage(t, Operators{Now: atNoon, Condition: Condition{
		Chains: chains, Unknown: []UnknownChain{{Chain: 4_000_000_000, Orders: 1234}},
		Venues: []Venue{{quote.Record{Name: "odos", Refused: 4}}, {quote.Record{Name: "velora", Silent: 7, FailingSince: atNoon.Add(-50 * time.Hour)}}, {quote.Record{Name: "lifi", LeftOut: 3}}},
		Webhooks: []Webhook{{&webhook.Hook{
			Name: "shop", URL: "https://shop.example/key", Delivered: 1200, Waiting: 7, Dead: 3, FailingSince: atNoon.Add(-time.Hour).Unix(), Error: "HTTP 500",
		}}},
	}, TakesCommands: true})
	golden.Contains(t, "the page", golden.PageText(page),
		"chain 4000000000 is not known; orders that name it: 1,234; add it to the configuration", "2 blocks of Polygon in quarantine",
		"Polygon 902 900 – 70 880 2, from 0 0 –", "4 problems", "deliveries to webhook shop have failed for 1 hour",
		"shop https://shop.example failing , began 1 hour ago 1,200 7 3 HTTP 500 Deliver anew", "venue velora has given nothing but failures for 2 days",
		"odos gave no quote yet 0 0 4", "velora failing 0 0 0 7", "lifi not asked yet",
	)
	if strings.Contains(page, `dot good`) {
		t.Error("something that fails is shown as good")
	}
	o := Operators{Now: atNoon, Unready: "server is shutting down"}
	o.Store = "no space left"
	o.Chains = []ChainCondition{{ChainBasis: order.ChainBasis{Chain: 1}, Late: true, Announcers: 2, Announcing: 1}}
	o.Services = []Service{{Name: "odos", Endpoints: []Endpoint{{Health: upstream.Health{
		Endpoint: "odos-1", Standing: "away", Failing: 0.5, RetryAfter: 1500 * time.Millisecond,
		Reason: injected, Failed: atNoon.Add(-time.Hour),
	}}, {Health: upstream.Health{Endpoint: "odos-2", Standing: "away"}}, {Health: upstream.Health{Endpoint: "odos-3", Standing: "cordoned", IsClosed: true}}}}}
	page = operatorsPage(t, o)
	golden.Contains(t, "the page", golden.PageText(page),
		"7 problems", "heads of Ethereum are announced by 1 of 2 endpoints", "not ready: server is shutting down", "order store unavailable: no space left", "Ethereum is behind",
		"endpoint odos-1 of odos is away",
		"endpoint odos-2 of odos is away", "endpoint odos-3 of odos is cordoned",
		"not indexed yet", "away , retried in 2 seconds open – – 0.0/s 50 % no limit – 1 hour ago:", "No venues are configured.",
	)
	if strings.Contains(page, "<script>alert") || strings.Contains(page, "<img src=x") {
		t.Error("what an endpoint said became a part of the page")
	}
}

// TestOperatorsCommandByButtons requires a button for each possible command on each endpoint, and none without a token.
func TestOperatorsCommandByButtons(t *testing.T) {
	o := Operators{Now: atNoon, TakesCommands: true, Notice: Notice{Text: "The endpoint is cordoned"}}
	o.Services = []Service{{Name: "Base", Of: "8453", Endpoints: []Endpoint{
		{Health: upstream.Health{Endpoint: "a/b", Standing: "ready", CanBeAsked: true}}, {Health: upstream.Health{Endpoint: "second", Standing: "cordoned"}},
	}}}
	page := operatorsPage(t, o)
	golden.Contains(t, "the page", page,
		`formaction="/endpoints/8453/a%2Fb/cordon"`, `formaction="/endpoints/8453/second/uncordon"`, `formaction="/purge"`,
		"The endpoint is cordoned",
	)
	if unwanted := regexp.MustCompile(`second/cordon"`).FindString(page); unwanted != "" {
		t.Errorf("the page offers %s, which is done already", unwanted)
	}
	o.TakesCommands = false
	if page := operatorsPage(t, o); strings.Contains(page, "formaction") || !strings.Contains(page, "no token is configured") {
		t.Error("without a token commands are offered")
	}
}

// atNoon is the current time of the status pages in these tests.
var atNoon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

const injected = `</script><script>alert(1)</script>"><img src=x onerror=alert(2)>'{{.}}`
