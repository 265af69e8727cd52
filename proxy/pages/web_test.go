package pages

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
	"crossgate/proxy/web"
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

// text is a page without its tags, on one line.
func text(page string) string {
	return html.UnescapeString(strings.Join(strings.Fields(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, " ")), " "))
}

func TestExplorersAreLinkedWhereTheyAreKnown(t *testing.T) {
	record := answer(t, "order_tron_to_solana")
	var r recordJSON
	if err := json.Unmarshal(record, &r); err != nil {
		t.Fatal(err)
	}
	documented := NewViews(chain.Documented())
	page := render(t, func(to io.Writer) error {
		return documented.Order(to, Order{Record: recordIn(t, record), JSON: string(record), Now: noon})
	})
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
	unexplored := NewViews(chain.NewRegistry())
	plain := render(t, func(to io.Writer) error {
		return unexplored.Order(to, Order{Record: recordIn(t, record), JSON: string(record), Now: noon})
	})
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
		pages := NewViews(chain.Documented())
		if tx, address := pages.TxURL(c.id, c.tx), pages.AddressURL(c.id, c.address); tx != c.wantTx || address != c.wantAddress {
			t.Errorf("chain %d: %q and %q, want %q and %q", c.id, tx, address, c.wantTx, c.wantAddress)
		}
	}
}

// hostile is what a token may call itself.
const hostile = `</script><script>alert(1)</script>"><img src=x onerror=alert(2)>'{{.}}`

// Executable finds what must not come out of a token's text: elements and addresses that run scripts.
var Executable = regexp.MustCompile(`(?i)<script>|<img src=x|(href|src)="\s*(javascript|data|vbscript):`)

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
	pages := NewViews(explored())
	wild := &token.Listing{Token: token.Token{Decimals: 6, Name: hostile, Symbol: hostile, LogoURI: "data:text/html,<script>alert(4)</script>"}}
	locked := bytes.ReplaceAll(answer(t, "locked"), []byte(`"USDC"`), []byte(`"\u003cscript>alert(5)\u003c/script>"`))
	for name, write := range map[string]func(io.Writer) error{
		"order": func(to io.Writer) error {
			return pages.Order(to, Order{Record: recordIn(t, raw), JSON: string(raw), Path: hostile, Hash: hostile, Count: 2, Now: noon})
		},
		"locked": func(to io.Writer) error {
			return pages.Locked(to, Locked{Taker: hostile, Answer: lockedOf(t, locked), JSON: string(locked), Now: noon})
		},
		"problem": func(to io.Writer) error {
			return pages.Problem(to, web.Problem{ID: hostile, Message: hostile, Request: hostile})
		},
		"swap": func(to io.Writer) error {
			return pages.Swap(to, Swap{
				Form: url.Values{"tokenIn": {hostile}, "chainId": {hostile}, "amount": {hostile}}, Origin: hostile, Now: noon,
				Listed: []Listed{{hostile, hostile, hostile}}, In: wild, Out: wild, Compared: comparisonIn(t, answer(t, "explanation"), answer(t, "swap")), HasTx: true,
				Faults: []Fault{{Field: "tokenIn", Message: hostile, Choices: []Choice{{*wild, "/swap?tokenIn=" + url.QueryEscape(hostile)}}}},
			})
		},
	} {
		page := render(t, write)
		if found := Executable.FindString(page); found != "" {
			t.Errorf("the page of %s contains %s", name, found)
		}
		if name != "locked" && !strings.Contains(page, "alert(1)") {
			t.Errorf("the page of %s does not show the text at all", name)
		}
	}
}

func TestPagesHaveNothingInline(t *testing.T) {
	pages := NewViews(explored())
	explanation := answer(t, "explanation")
	for name, write := range map[string]func(io.Writer) error{
		"home": func(to io.Writer) error {
			return pages.Home(to, Home{Chains: chain.Documented().All(), Indexed: []Indexed{{Chain: 1, Block: 2}, {Chain: 137}}})
		},
		"no order": func(to io.Writer) error { return pages.Order(to, Order{}) },
		"order": func(to io.Writer) error {
			return pages.Order(to, Order{Record: recordIn(t, answer(t, "order_claimed")), JSON: string(answer(t, "order_claimed")), Now: noon})
		},
		"no locked": func(to io.Writer) error { return pages.Locked(to, Locked{}) },
		"locked": func(to io.Writer) error {
			return pages.Locked(to, Locked{Answer: lockedOf(t, answer(t, "locked")), Now: noon})
		},
		"no swap": func(to io.Writer) error { return pages.Swap(to, Swap{}) },
		"swap": func(to io.Writer) error {
			ether := &token.Listing{Key: token.Key{Chain: 1, Address: chain.NativeCoin(chain.EVM)}, Token: token.Token{Symbol: "ETH", Decimals: 18}}
			return pages.Swap(to, Swap{Compared: comparisonIn(t, explanation, answer(t, "swap")), HasTx: true, In: ether, Out: ether})
		},
		"no list": func(to io.Writer) error { return pages.List(to, List{Rows: 25}) },
		"list": func(to io.Writer) error {
			return pages.List(to, List{Answer: listIn(t, answer(t, "order_list")), Rows: 25, Now: noon})
		},
		"statistics":    func(to io.Writer) error { return pages.Statistics(to, statisticsOf()) },
		"no statistics": func(to io.Writer) error { return pages.Statistics(to, Statistics{}) },
		"problem":       func(to io.Writer) error { return pages.Problem(to, web.Problem{}) },
		"docs":          func(to io.Writer) error { return pages.Docs(to, Docs{}) },
		"operators": func(to io.Writer) error {
			return pages.Operators(to, web.Operators{Now: noon, TakesCommands: true, Notice: web.Notice{Text: "Purged"}})
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
			if _, err := web.Assets().Open(strings.TrimPrefix(reference[1], "/assets/")); err != nil {
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
