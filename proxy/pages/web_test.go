package pages

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/internal/golden"
	"crossgate/internal/must"
	"crossgate/proxy/web"
	"crossgate/token"
)

// Noon is the current time of the pages in these tests.
var Noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// Explored returns the documented chains, each with an explorer.
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
	must.Do(t, write(&page))
	return page.String()
}

func TestExplorersAreLinkedWhereTheyAreKnown(t *testing.T) {
	record := recordOf("from TRON to Solana")
	o := record.Order
	documented := NewViews(chain.Documented())
	page := Render(t, func(to io.Writer) error {
		return documented.Order(to, Order{Record: record, JSON: "{}", Now: Noon})
	})
	for _, want := range []string{
		"https://tronscan.org/#/transaction/" + o.ClaimedCancel.At.Tx.Format(chain.TVM),
		"https://tronscan.org/#/address/" + o.Terms.Maker.Format(chain.TVM),
		"https://explorer.solana.com/tx/" + o.Cancelled.At.Tx.Format(chain.SVM),
		"https://explorer.solana.com/address/" + o.Terms.Receiver.Format(chain.SVM),
	} {
		if !strings.Contains(page, `href="`+want+`"`) {
			t.Errorf("no link to %s", want)
		}
	}
	unexplored := NewViews(chain.NewRegistry())
	plain := Render(t, func(to io.Writer) error {
		return unexplored.Order(to, Order{Record: record, JSON: "{}", Now: Noon})
	})
	if strings.Contains(plain, `href="https:`) || strings.Contains(plain, `href=""`) {
		t.Error("a page of unknown chains has links to explorers")
	}
}

// Hostile is a possible name of a token.
const Hostile = `</script><script>alert(1)</script>"><img src=x onerror=alert(2)>'{{.}}`

// Executable finds what a token's text must not produce: elements and addresses that run scripts.
var Executable = regexp.MustCompile(`(?i)<script>|<img src=x|(href|src)="\s*(javascript|data|vbscript):`)

func TestTextOfTokensCannotBecomeAPartOfThePage(t *testing.T) {
	hostile := token.Token{Decimals: 6, Name: Hostile, Symbol: Hostile, LogoURI: "javascript:alert(3)"}
	record, locked := recordOf("claimed"), lockedAssets()
	record.Give, record.Take = hostile, hostile
	for key := range locked.Tokens {
		locked.Tokens[key] = hostile
	}
	pages := NewViews(Explored())
	for name, write := range map[string]func(io.Writer) error{
		"order": func(to io.Writer) error {
			return pages.Order(to, Order{Record: record, JSON: Hostile, Path: Hostile, Hash: Hostile, Count: 2, Now: Noon})
		},
		"locked": func(to io.Writer) error {
			return pages.Locked(to, Locked{Taker: Hostile, Answer: locked, JSON: Hostile, Now: Noon})
		},
		"problem": func(to io.Writer) error {
			return pages.Problem(to, web.Problem{ID: Hostile, Message: Hostile, Request: Hostile})
		},
	} {
		page := Render(t, write)
		if found := Executable.FindString(page); found != "" {
			t.Errorf("the page of %s contains %s", name, found)
		}
		golden.Contains(t, name, page, "alert(1)")
	}
}
