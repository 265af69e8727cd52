package web

import (
	"bytes"
	"encoding/json"
	"html"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/token"
)

// noon is when the pages of these tests are looked at.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// answer reads one of the documented answers that package wire writes.
func answer(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "wire", "testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// explored are the documented chains, each with an explorer.
func explored() chain.Registry {
	var chains []chain.Chain
	for _, c := range chain.Documented().All() {
		c.Explorer = "https://explorer.example/" + c.ID.String()
		chains = append(chains, c)
	}
	return chain.NewRegistry(chains...)
}

func render(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var page bytes.Buffer
	if err := write(&page); err != nil {
		t.Fatal(err)
	}
	return page.String()
}

func orderPage(t *testing.T, record []byte) string {
	t.Helper()
	pages := New(explored())
	return render(t, func(to io.Writer) error {
		return pages.Order(to, Order{Record: record, Path: "/api/Orders/0x01", Now: noon, Origin: "http://127.0.0.1:8080"})
	})
}

// text is a page without its tags, on one line.
func text(page string) string {
	return html.UnescapeString(strings.Join(strings.Fields(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, " ")), " "))
}

func TestOrderPageTellsTheWholeWay(t *testing.T) {
	for name, wants := range map[string][]string{
		"order_created":          {"Created waiting for a taker", "Fulfilled on", "Not yet: a taker must deliver", "Unlock claimed"},
		"order_claimed":          {"ClaimedUnlock delivered and paid", "the maker locked the give amount", "a taker delivered", "the taker was paid"},
		"order_cancelled":        {"Cancelled", "refund"},
		"order_solana":           {"on Solana"},
		"order_tron_to_solana":   {"Gives on TRON", "Takes on Solana"},
		"order_unknown_creation": {"Not yet: the creation has not been seen"},
	} {
		page := text(orderPage(t, answer(t, name)))
		for _, want := range wants {
			if !strings.Contains(page, want) {
				t.Errorf("page of %s lacks %q: %s", name, want, page)
			}
		}
	}
}

func TestOrderPageHasFeesOnlyOfACreationThatWasSeen(t *testing.T) {
	for name, want := range map[string]bool{"order_created": true, "order_unknown_creation": false} {
		page := text(orderPage(t, answer(t, name)))
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
	begun, left := Gap{Chain: 8453, From: 70_000, Since: noon}, Gap{Chain: 137, Quarantined: 1}
	pages := New(explored())
	for _, test := range []struct {
		name  string
		gaps  []Gap
		want  string
		lacks string
	}{
		{"order_created", []Gap{begun}, "waiting for a taker", "Not everything"},
		{"order_created", []Gap{begun, left}, "no delivery was seen Not everything was read of 1 chain Polygon: 1 block cannot be read", "waiting for a taker"},
		{"order_claimed", []Gap{left}, "delivered and paid Not everything", "70,000"},
		{"order_unknown_creation", []Gap{begun}, "delivered; no payment was seen Not everything was read of 1 chain Base: read from block 70,000 on", "has not been paid"},
	} {
		page := text(render(t, func(to io.Writer) error {
			return pages.Order(to, Order{Record: answer(t, test.name), Gaps: test.gaps, Now: noon})
		}))
		if !strings.Contains(page, test.want) || strings.Contains(page, test.lacks) {
			t.Errorf("page of %s with gaps %v: want %q and not %q: %s", test.name, test.gaps, test.want, test.lacks, page)
		}
	}
}

func TestExplorersAreLinkedWhereTheyAreKnown(t *testing.T) {
	record := answer(t, "order_tron_to_solana")
	var r recordJSON
	if err := json.Unmarshal(record, &r); err != nil {
		t.Fatal(err)
	}
	documented := New(chain.Documented())
	page := render(t, func(to io.Writer) error { return documented.Order(to, Order{Record: record, Now: noon}) })
	for _, want := range []string{
		"https://tronscan.org/#/transaction/" + r.ClaimedCancel.TransactionMetadata.TransactionHash.Text,
		"https://tronscan.org/#/address/" + r.MakerSrc.Text,
		"https://explorer.solana.com/tx/" + r.Cancelled.TransactionHash.Text,
		"https://explorer.solana.com/address/" + r.ReceiverDst.Text,
	} {
		if !strings.Contains(page, `href="`+want+`"`) {
			t.Errorf("no link to %s", want)
		}
	}
	unexplored := New(chain.NewRegistry())
	plain := render(t, func(to io.Writer) error { return unexplored.Order(to, Order{Record: record, Now: noon}) })
	if strings.Contains(plain, `href="https:`) || strings.Contains(plain, `href=""`) {
		t.Error("a page of unknown chains has links to explorers")
	}
}

func TestExplorersHaveTransactionsAndAddressesOfEachFamily(t *testing.T) {
	hash := chain.NewTxHash(bytes.Repeat([]byte{0xab}, 32))
	account := chain.NewAddress(bytes.Repeat([]byte{0xcd}, 20))
	for _, c := range []struct {
		id          chain.ID
		tx, address string // as answers write them
		wantTx      string
		wantAddress string
	}{
		{1, hash.String(), account.String(), "https://etherscan.io/tx/" + hash.String(), "https://etherscan.io/address/" + account.String()},
		{
			chain.Tron, hash.Format(chain.TVM), account.Format(chain.TVM),
			"https://tronscan.org/#/transaction/" + hash.Format(chain.TVM), "https://tronscan.org/#/address/" + account.Format(chain.TVM),
		},
		{
			chain.Solana, "sig", "So11111111111111111111111111111111111111112",
			"https://explorer.solana.com/tx/sig", "https://explorer.solana.com/address/So11111111111111111111111111111111111111112",
		},
		{1, "", chain.NativeCoin(chain.EVM).String(), "", ""},
		{chain.Tron, "", chain.NativeCoin(chain.TVM).Format(chain.TVM), "", ""},
		{4242, hash.String(), account.String(), "", ""},
	} {
		pages := New(chain.Documented())
		if tx, address := pages.txURL(c.id, c.tx), pages.addressURL(c.id, c.address); tx != c.wantTx || address != c.wantAddress {
			t.Errorf("chain %d: %q and %q, want %q and %q", c.id, tx, address, c.wantTx, c.wantAddress)
		}
	}
}

// hostile is what a token may call itself.
const hostile = `</script><script>alert(1)</script>"><img src=x onerror=alert(2)>'{{.}}`

// executable finds what must not come out of a token's text: elements and addresses that run scripts.
var executable = regexp.MustCompile(`(?i)<script>|<img src=x|(href|src)="\s*(javascript|data|vbscript):`)

func TestTextOfTokensCannotBecomeAPartOfThePage(t *testing.T) {
	var record map[string]any
	if err := json.Unmarshal(answer(t, "order_claimed"), &record); err != nil {
		t.Fatal(err)
	}
	for _, side := range []string{"giveOfferWithMetadata", "takeOfferWithMetadata"} {
		offer := record[side].(map[string]any)
		offer["name"], offer["symbol"], offer["logoURI"] = hostile, hostile, "javascript:alert(3)"
	}
	raw, err := json.Marshal(record)
	if err != nil {
		t.Fatal(err)
	}
	pages := New(explored())
	wild := &token.Listing{Token: token.Token{Decimals: 6, Name: hostile, Symbol: hostile, LogoURI: "data:text/html,<script>alert(4)</script>"}}
	locked := bytes.ReplaceAll(answer(t, "locked"), []byte(`"USDC"`), []byte(`"\u003cscript>alert(5)\u003c/script>"`))
	for name, write := range map[string]func(io.Writer) error{
		"order": func(to io.Writer) error {
			return pages.Order(to, Order{Record: raw, Path: hostile, Hash: hostile, Count: 2, Now: noon})
		},
		"locked": func(to io.Writer) error { return pages.Locked(to, Locked{Taker: hostile, Answer: locked, Now: noon}) },
		"problem": func(to io.Writer) error {
			return pages.Problem(to, Problem{ID: hostile, Message: hostile, Request: hostile})
		},
		"swap": func(to io.Writer) error {
			return pages.Swap(to, Swap{
				Form: url.Values{"tokenIn": {hostile}, "chainId": {hostile}, "amount": {hostile}}, Origin: hostile, Now: noon,
				Listed: []Listed{{hostile, hostile, hostile}}, In: wild, Out: wild, Explanation: answer(t, "explanation"), Estimate: answer(t, "swap"),
				Faults: []Fault{{Field: "tokenIn", Message: hostile, Choices: []Choice{{*wild, "/swap?tokenIn=" + url.QueryEscape(hostile)}}}},
			})
		},
	} {
		page := render(t, write)
		if found := executable.FindString(page); found != "" {
			t.Errorf("the page of %s contains %s", name, found)
		}
		if name != "locked" && !strings.Contains(page, "alert(1)") {
			t.Errorf("the page of %s does not show the text at all", name)
		}
	}
}

func TestPagesHaveNothingInline(t *testing.T) {
	pages := New(explored())
	explanation := answer(t, "explanation")
	for name, write := range map[string]func(io.Writer) error{
		"home": func(to io.Writer) error {
			return pages.Home(to, Home{Chains: chain.Documented().All(), Indexed: []Indexed{{Chain: 1, Block: 2}, {Chain: 137}}})
		},
		"no order":  func(to io.Writer) error { return pages.Order(to, Order{}) },
		"order":     func(to io.Writer) error { return pages.Order(to, Order{Record: answer(t, "order_claimed"), Now: noon}) },
		"no locked": func(to io.Writer) error { return pages.Locked(to, Locked{}) },
		"locked":    func(to io.Writer) error { return pages.Locked(to, Locked{Answer: answer(t, "locked"), Now: noon}) },
		"no swap":   func(to io.Writer) error { return pages.Swap(to, Swap{}) },
		"swap": func(to io.Writer) error {
			ether := &token.Listing{Key: token.Key{Chain: 1, Address: chain.NativeCoin(chain.EVM)}, Token: token.Token{Symbol: "ETH", Decimals: 18}}
			return pages.Swap(to, Swap{Explanation: explanation, Estimate: answer(t, "swap"), In: ether, Out: ether})
		},
		"no list": func(to io.Writer) error { return pages.List(to, List{Rows: 25}) },
		"list": func(to io.Writer) error {
			return pages.List(to, List{Answer: answer(t, "order_list"), Rows: 25, Now: noon})
		},
		"problem": func(to io.Writer) error { return pages.Problem(to, Problem{}) },
		"docs":    pages.Docs,
	} {
		page := render(t, write)
		// The policy forbids all of it, so that it would not work.
		if inline := regexp.MustCompile(`(?i)<style|\sstyle=|\son[a-z]+=|<script(>|\s+type="module">)`).FindString(page); inline != "" {
			t.Errorf("the page %s has %q in it", name, inline)
		}
		if strings.Count(page, "<h1") != 1 || !strings.Contains(page, "</html>") {
			t.Errorf("the page %s has %d first headings, want one, or is cut off", name, strings.Count(page, "<h1"))
		}
		for _, reference := range regexp.MustCompile(`(?:src|href)="(/assets/[^"]*)"`).FindAllStringSubmatch(page, -1) {
			if _, err := Assets().Open(strings.TrimPrefix(reference[1], "/assets/")); err != nil {
				t.Errorf("the page %s refers to %s: %v", name, reference[1], err)
			}
		}
		for _, label := range regexp.MustCompile(`<label for="([^"]*)"`).FindAllStringSubmatch(page, -1) {
			if !strings.Contains(page, `id="`+label[1]+`"`) {
				t.Errorf("the page %s has a label for nothing: %s", name, label[1])
			}
		}
	}
}

func TestStatusPageTellsWhatWasLeftOut(t *testing.T) {
	pages := New(explored())
	chains := []ChainCondition{{Chain: 137, Head: 902, Indexed: 900, From: 70, Proven: 880, Quarantined: 2}}
	page := text(render(t, func(to io.Writer) error {
		unknown := []UnknownChain{{Chain: 4_000_000_000, Orders: 1234}}
		return pages.Operators(to, Operators{Condition: Condition{Chains: chains, Unknown: unknown}, Now: noon})
	}))
	for _, want := range []string{"chain 4000000000 is not known; orders that name it: 1,234; add it to the configuration", "2 blocks of Polygon in quarantine", "Polygon 902 900 – 70 880 2 –"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q: %s", want, page)
		}
	}
}

func TestHomePageTellsWhereHistoryBegins(t *testing.T) {
	pages := New(explored())
	page := text(render(t, func(to io.Writer) error {
		return pages.Home(to, Home{Now: noon, Indexed: []Indexed{
			{Chain: 1, Block: 900, Proven: 880}, {Chain: 137, Block: 700, From: 70, Since: noon.Add(-time.Hour), Quarantined: 2},
		}})
	}))
	for _, want := range []string{"Ethereum 900 – the first block 880 –", "Polygon 700 – 2026-11-21 11:00:00 UTC – 2"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q: %s", want, page)
		}
	}
}

func TestLockedPageTellsForHowLong(t *testing.T) {
	raw := answer(t, "locked")
	ids, err := LockedOrders(raw)
	if err != nil || len(ids) == 0 {
		t.Fatalf("orders %v, %v", ids, err)
	}
	pages := New(explored())
	page := text(render(t, func(to io.Writer) error {
		return pages.Locked(to, Locked{Taker: "0xd1", Answer: raw, Now: noon, Delivered: map[string]time.Time{ids[0]: noon.Add(-75 * time.Hour)}})
	}))
	for _, want := range []string{"longest wait 3 days", "2026-11-18 09:00:00 UTC 3 days"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q: %s", want, page)
		}
	}
	empty := text(render(t, func(to io.Writer) error { return pages.Locked(to, Locked{Answer: []byte("[]")}) }))
	if !strings.Contains(empty, "Nothing is locked") {
		t.Errorf("page of nothing: %s", empty)
	}
}

func TestAmountsAreReadable(t *testing.T) {
	for _, test := range []struct {
		units       string
		decimals    int
		text, exact string
	}{
		{"0", 18, "0", "0"},
		{"", 6, "0", "0"},
		{"1", 0, "1", "1"},
		{"1234567", 0, "1,234,567", "1,234,567"},
		{"499800000000000000", 18, "0.4998", "0.4998"},
		{"1234567890123456789012", 18, "1,234.567890", "1,234.567890123456789012"},
		{"123456789", 18, "0.000000000123456", "0.000000000123456789"},
		{"1", 18, "0.000000000000000001", "0.000000000000000001"},
	} {
		got := amountOf(test.units, test.decimals)
		if got.Text != strings.TrimRight(test.text, "0") && got.Text != test.text || got.Exact != test.exact {
			t.Errorf("amountOf(%q, %d) = %+v, want %s and %s", test.units, test.decimals, got, test.text, test.exact)
		}
	}
}

func TestDurationsAreInTheLargestUnitThatFits(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0 seconds", time.Second: "1 second", 119 * time.Second: "1 minute", 47 * time.Hour: "47 hours", 50 * time.Hour: "2 days",
	} {
		if got := lasting(d); got != want {
			t.Errorf("lasting(%v) = %q, want %q", d, got, want)
		}
	}
}

func operatorsPage(t *testing.T, o Operators) string {
	t.Helper()
	pages := New(chain.Documented())
	return render(t, func(to io.Writer) error { return pages.Operators(to, o) })
}

func TestOperatorsSeeHowEverythingIs(t *testing.T) {
	o := Operators{Now: noon, Cache: CacheCounts{Hits: 3, Stales: 1, Misses: 1, Loads: 1234}}
	o.Release = "crossgate 1.2.3 (commit 0a1b2c)"
	o.Chains = []ChainCondition{{Chain: 8453, Head: 1_000_010, Indexed: 1_000_000, Lag: 20 * time.Second, Announcers: 2, Announcing: 2, Announced: 1_000_011}}
	o.Services = []Service{{Name: "Base", Endpoints: []Endpoint{
		{Name: "base-1", Standing: "ready", OK: true, Preferred: true, Breaker: "closed", Usual: 42 * time.Millisecond, Left: 12.7, IsLimited: true, Head: "+0", Limits: []string{"searches 700 blocks", "no eth_simulateV1"}},
		{Name: "base-2", Standing: "ready", OK: true, Breaker: "closed", IsForced: true, Head: "-19"},
		{Name: "base-3", Standing: "ready", OK: true, Breaker: "closed"},
	}}}
	o.Venues = []Venue{
		{Name: "kyberswap", Outbid: 2, Refused: 1, Took: 130 * time.Millisecond, Reason: "HTTP 500", At: noon.Add(-time.Minute)},
		{Name: "odos", Won: 2, Took: 90 * time.Millisecond},
	}
	page := text(operatorsPage(t, o))
	for _, want := range []string{
		"Healthy", "Base 1,000,010 1,000,000 20 seconds 0 – 0 1,000,011, 2 of 2", "base-1 preferred ready closed 0 42 ms 0 % 12 searches 700 blocks no eth_simulateV1 none",
		"base-2 ready closed forced by an operator −19 – 0 % no limit – none", "base-3 ready closed – – 0 % no limit – none", "odos 2 0 0 0 0 90 ms none kyberswap 0 2 1 0 0 130 ms 1 minute ago: HTTP 500",
		"Hit ratio 80.0 %", "Loads 1,234", "crossgate 1.2.3 (commit 0a1b2c)",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q: %s", want, page)
		}
	}
}

func TestOperatorsSeeWhichVenuesFail(t *testing.T) {
	o := Operators{Now: noon}
	o.Venues = []Venue{{Name: "kyberswap", Refused: 2, FailingSince: noon.Add(-50 * time.Hour)}, {Name: "velora", Won: 1, Refused: 1}}
	page := text(operatorsPage(t, o))
	if want := "1 problem venue kyberswap has given nothing but failures for 2 days"; !strings.Contains(page, want) {
		t.Errorf("the page lacks %q: %s", want, page)
	}
}

func TestOperatorsSeeWhatIsNotWell(t *testing.T) {
	o := Operators{Now: noon, Unready: "server is shutting down"}
	o.Store = "no space left"
	o.Chains = []ChainCondition{{Chain: 1, Late: true, Announcers: 2, Announcing: 1}}
	o.Services = []Service{{Name: "odos", Endpoints: []Endpoint{{
		Name: "odos-1", Standing: "away", Breaker: "open", Failing: 0.5, Wait: 1500 * time.Millisecond,
		Reason: hostile, Failed: noon.Add(-time.Hour),
	}, {Name: "odos-2", Standing: "away", Breaker: "open", IsForced: true}, {Name: "odos-3", Standing: "cordoned", Breaker: "closed"}}}}
	page := operatorsPage(t, o)
	for _, want := range []string{
		"7 problems", "heads of Ethereum are announced by 1 of 2 endpoints", "not ready: server is shutting down", "order store unavailable: no space left", "Ethereum is behind",
		"endpoint odos-1 is away",
		"endpoint odos-2 is away, its breaker forced open by an operator", "endpoint odos-3 is cordoned",
		"not indexed yet", "away , retried in 2 seconds open – – 50 % no limit – 1 hour ago:", "No venues are configured.",
	} {
		if !strings.Contains(text(page), want) {
			t.Errorf("the page lacks %q: %s", want, text(page))
		}
	}
	if executable.MatchString(page) {
		t.Error("what an endpoint said became a part of the page")
	}
}
