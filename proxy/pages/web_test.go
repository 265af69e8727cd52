package pages

import (
	"bytes"
	"encoding/json"
	"html"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/proxy/web"
)

// Noon is when the pages of these tests are looked at.
var Noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// Answer reads one of the documented answers that package wire writes.
func Answer(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "wire", "testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Explored are the documented chains, each with an explorer.
func Explored() chain.Registry {
	var chains []chain.Chain
	for _, c := range chain.Documented().All() {
		c.Explorer = "https://explorer.example/" + c.ID.String()
		chains = append(chains, c)
	}
	return chain.NewRegistry(chains...)
}

func Render(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var page bytes.Buffer
	if err := write(&page); err != nil {
		t.Fatal(err)
	}
	return page.String()
}

// Text is a page without its tags, on one line.
func Text(page string) string {
	return html.UnescapeString(strings.Join(strings.Fields(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, " ")), " "))
}

func TestExplorersAreLinkedWhereTheyAreKnown(t *testing.T) {
	record := Answer(t, "order_tron_to_solana")
	var r recordJSON
	if err := json.Unmarshal(record, &r); err != nil {
		t.Fatal(err)
	}
	documented := NewViews(chain.Documented())
	page := Render(t, func(to io.Writer) error {
		return documented.Order(to, Order{Record: recordIn(t, record), JSON: string(record), Now: Noon})
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
	plain := Render(t, func(to io.Writer) error {
		return unexplored.Order(to, Order{Record: recordIn(t, record), JSON: string(record), Now: Noon})
	})
	if strings.Contains(plain, `href="https:`) || strings.Contains(plain, `href=""`) {
		t.Error("a page of unknown chains has links to explorers")
	}
}

// Hostile is what a token may call itself.
const Hostile = `</script><script>alert(1)</script>"><img src=x onerror=alert(2)>'{{.}}`

// Executable finds what must not come out of a token's text: elements and addresses that run scripts.
var Executable = regexp.MustCompile(`(?i)<script>|<img src=x|(href|src)="\s*(javascript|data|vbscript):`)

func TestTextOfTokensCannotBecomeAPartOfThePage(t *testing.T) {
	var record map[string]any
	if err := json.Unmarshal(Answer(t, "order_claimed"), &record); err != nil {
		t.Fatal(err)
	}
	for _, side := range []string{"giveOfferWithMetadata", "takeOfferWithMetadata"} {
		offer := record[side].(map[string]any)
		offer["name"], offer["symbol"], offer["logoURI"] = Hostile, Hostile, "javascript:alert(3)"
	}
	raw, err := json.Marshal(record)
	if err != nil {
		t.Fatal(err)
	}
	pages := NewViews(Explored())
	locked := bytes.ReplaceAll(Answer(t, "locked"), []byte(`"USDC"`), []byte(`"\u003cscript>alert(5)\u003c/script>"`))
	for name, write := range map[string]func(io.Writer) error{
		"order": func(to io.Writer) error {
			return pages.Order(to, Order{Record: recordIn(t, raw), JSON: string(raw), Path: Hostile, Hash: Hostile, Count: 2, Now: Noon})
		},
		"locked": func(to io.Writer) error {
			return pages.Locked(to, Locked{Taker: Hostile, Answer: lockedOf(t, locked), JSON: string(locked), Now: Noon})
		},
		"problem": func(to io.Writer) error {
			return pages.Problem(to, web.Problem{ID: Hostile, Message: Hostile, Request: Hostile})
		},
	} {
		page := Render(t, write)
		if found := Executable.FindString(page); found != "" {
			t.Errorf("the page of %s contains %s", name, found)
		}
		if name != "locked" && !strings.Contains(page, "alert(1)") {
			t.Errorf("the page of %s does not show the text at all", name)
		}
	}
}
