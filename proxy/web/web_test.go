package web

import (
	"bytes"
	"encoding/json"
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
	return strings.Join(strings.Fields(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, " ")), " ")
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
	wild := token.Token{Decimals: 6, Name: hostile, Symbol: hostile, LogoURI: "data:text/html,<script>alert(4)</script>"}
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
				Listed: []Listed{{hostile, hostile}}, In: wild, Out: wild, Explanation: answer(t, "explanation"),
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
			return pages.Swap(to, Swap{Explanation: explanation, Out: token.Token{Decimals: 18}})
		},
		"problem": func(to io.Writer) error { return pages.Problem(to, Problem{}) },
		"docs":    func(to io.Writer) error { return pages.Docs(to, Docs{}) },
		"operators": func(to io.Writer) error {
			return pages.Operators(to, Operators{Now: noon, TakesCommands: true, Notice: Notice{Text: "Purged"}})
		},
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

func TestSwapPageTellsWhoWonAndWhyOthersDidNot(t *testing.T) {
	explanation := []byte(`{"execution":"router","to":"0x","amount":"1000000","minAmount":"990000","protocolFee":"800","aggregators":[
		{"name":"first","execution":"router","verdict":"won","tookMs":12.4,"quotedAmount":"1000800","amount":"1000000","gas":1,"simulated":true},
		{"name":"second","execution":"direct","verdict":"outbid","tookMs":80,"quotedAmount":"990000","amount":"990000","gas":1,"simulated":false},
		{"name":"third","execution":"direct","verdict":"refused","tookMs":3,"quotedAmount":"5","amount":"5","gas":1,"simulated":false,"reason":"another recipient"},
		{"name":"fourth","execution":"direct","verdict":"silent","tookMs":2500}]}`)
	pages := New(explored())
	page := render(t, func(to io.Writer) error {
		return pages.Swap(to, Swap{
			Form: url.Values{"chainId": {"1"}}, Explanation: explanation, Out: token.Token{Symbol: "USDC", Decimals: 6},
			In: token.Token{Symbol: "ETH", Decimals: 18}, AmountIn: chain.NewAmount(1e17), Path: "/v1.0/chain/estimation?chainId=1&tokenIn=0x", Origin: "https://gate.example",
		})
	})
	plain := text(page)
	for _, want := range []string{
		"0.1 ETH on Ethereum buys", "1 USDC at least 0.99 USDC, after a protocol fee of 0.0008 USDC",
		"first chosen simulated 1 best quote 12 ms", "second 0.99 1.00 % below 80 ms via its own router",
		"third refused another recipient", "fourth no quote in time",
		"curl 'https://gate.example/v1.0/chain/estimation?chainId=1&amp;tokenIn=0x'",
	} {
		if !strings.Contains(plain, want) {
			t.Errorf("the page lacks %q: %s", want, plain)
		}
	}
	if widths := regexp.MustCompile(`class="value" width="([0-9.]+)%"`).FindAllStringSubmatch(page, -1); len(widths) != 2 || widths[0][1] != "100.0" || widths[1][1] != "20.0" {
		t.Errorf("bars of %v percent, want 100 and 20: one percent below on a scale of one and a quarter", widths)
	}
}

func TestStatusPageTellsWhatWasLeftOut(t *testing.T) {
	pages := New(explored())
	chains := []ChainCondition{{Chain: 137, Head: 902, Indexed: 900, From: 70, Proven: 880, Quarantined: 2}}
	page := text(render(t, func(to io.Writer) error {
		unknown := []UnknownChain{{Chain: 4_000_000_000, Orders: 1234}}
		return pages.Operators(to, Operators{Condition: Condition{Chains: chains, Unknown: unknown}, Now: noon})
	}))
	for _, want := range []string{"chain 4000000000 is not known; orders that name it: 1,234; add it to the configuration", "2 blocks of Polygon in quarantine", "Polygon 902 900 – 70 880 2, from 0 0 –"} {
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

func TestWholeTokensBecomeUnits(t *testing.T) {
	for text, want := range map[string]string{"1": "1000000", "0.1": "100000", " 12.5 ": "12500000", ".5": "500000", "1.0000000000": "1000000", "0.000001": "1"} {
		if got, err := UnitsOf(text, 6); err != nil || got.String() != want {
			t.Errorf("UnitsOf(%q) = %v, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0", "0.0", "-1", "1e6", "1,5", "0.0000001", "1.2.3", "ten", strings.Repeat("9", 90)} {
		if got, err := UnitsOf(text, 6); err == nil {
			t.Errorf("UnitsOf(%q) = %v, want an error", text, got)
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
	o.Chains = []ChainCondition{{
		Chain: 8453, Head: 1_000_010, Indexed: 1_000_000, Lag: 20 * time.Second, Announcers: 2, Announcing: 2, Announced: 1_000_011, Corrections: 3,
		Unasked: Load{43_200, 1_296_000, 900_000, 1_000_000}, Asked: Load{86_400, 2_592_000, 1_800_000, 1_000_000},
	}}
	o.Started, o.Traffic = noon.Add(-51*time.Hour), Traffic{12.5, 0.02, 1_234_567, 20, 3}
	o.Services = []Service{{Name: "Base", Endpoints: []Endpoint{
		{Name: "base-1", Standing: "ready", OK: true, Preferred: true, Breaker: "closed", Usual: 42 * time.Millisecond, Left: 12.7, IsLimited: true, Head: "+0", Rate: 2.5, Limits: []string{"searches 700 blocks", "no eth_simulateV1"}},
		{Name: "base-2", Standing: "ready", OK: true, Breaker: "closed", IsForced: true, Head: "-19"},
		{Name: "base-3", Standing: "ready", OK: true, Breaker: "closed"},
	}}}
	o.Venues = []Venue{
		{Name: "kyberswap", Outbid: 2, Refused: 1, Took: 130 * time.Millisecond, Reason: "HTTP 500", At: noon.Add(-time.Minute)},
		{Name: "odos", Won: 2, Took: 90 * time.Millisecond},
	}
	page := text(operatorsPage(t, o))
	for _, want := range []string{
		"Healthy", "Base 1,000,010 1,000,000 20 seconds 0 – 0 3 1,000,011, 2 of 2", "Base base-1 preferred ready closed 0 42 ms 2.5/s 0 % 12 searches 700 blocks no eth_simulateV1 none",
		"Base base-2 ready closed forced by an operator −19 – 0.0/s 0 % no limit – none", "Base base-3 ready closed – – 0.0/s 0 % no limit – none",
		"odos quotes 2 0 0 0 0 90 ms none kyberswap quotes 0 2 1 0 0 130 ms 1 minute ago: HTTP 500",
		"Up 2 days 3 hours", "last minute 12.5/s, 2 % failed", "start 1,234,567", "20, 3", "Base 43,200 86,400 900,000 1,800,000 1,000,000 exceeds the plans when asked all the time",
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
		"endpoint odos-1 of odos is away",
		"endpoint odos-2 of odos is away, its breaker forced open by an operator", "endpoint odos-3 of odos is cordoned",
		"not indexed yet", "away , retried in 2 seconds open – – 0.0/s 50 % no limit – 1 hour ago:", "No venues are configured.",
	} {
		if !strings.Contains(text(page), want) {
			t.Errorf("the page lacks %q: %s", want, text(page))
		}
	}
	if executable.MatchString(page) {
		t.Error("what an endpoint said became a part of the page")
	}
}

// TestOperatorsSeeThatFailingIsNotReady has an endpoint and venues that are asked and give nothing.
func TestOperatorsSeeThatFailingIsNotReady(t *testing.T) {
	o := Operators{Now: noon}
	o.Services = []Service{{Name: "velora", Endpoints: []Endpoint{{Name: "main", Standing: "failing", OK: true, Failing: 1}}}}
	o.Venues = []Venue{{Name: "odos", Refused: 4}, {Name: "velora", Silent: 7, FailingSince: noon.Add(-50 * time.Hour)}, {Name: "lifi", LeftOut: 3}}
	page := operatorsPage(t, o)
	for _, want := range []string{
		"endpoint main of velora is failing", "odos gave no quote yet 0 0 4", "velora failing 0 0 0 7", "lifi not asked yet",
	} {
		if !strings.Contains(text(page), want) {
			t.Errorf("the page lacks %q: %s", want, text(page))
		}
	}
	if strings.Contains(page, `dot good`) {
		t.Error("something that fails is told as good")
	}
}

// TestOperatorsCommandByButtons wants a button for what can be done to each endpoint, and none without a token.
func TestOperatorsCommandByButtons(t *testing.T) {
	o := Operators{Now: noon, TakesCommands: true, Notice: Notice{Text: "The endpoint is cordoned"}}
	o.Services = []Service{{Name: "Base", Of: "8453", Endpoints: []Endpoint{
		{Name: "a/b", Standing: "ready", OK: true}, {Name: "second", Standing: "cordoned", IsForced: true},
	}}}
	page := operatorsPage(t, o)
	for _, want := range []string{
		`formaction="/endpoints/8453/a%2Fb/cordon"`, `formaction="/endpoints/8453/a%2Fb/breaker/open"`, `formaction="/endpoints/8453/a%2Fb/breaker/closed"`,
		`formaction="/endpoints/8453/second/uncordon"`, `formaction="/endpoints/8453/second/breaker/auto"`, `formaction="/purge"`,
		"The endpoint is cordoned",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if unwanted := regexp.MustCompile(`second/(cordon|breaker/open)"`).FindString(page); unwanted != "" {
		t.Errorf("the page offers %s, which is done already", unwanted)
	}
	o.TakesCommands = false
	if page := operatorsPage(t, o); strings.Contains(page, "formaction") || !strings.Contains(page, "no token is configured") {
		t.Error("without a token commands are offered")
	}
}
